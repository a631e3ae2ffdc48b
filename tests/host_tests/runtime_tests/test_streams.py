"""Streams, events, callbacks."""
from __future__ import annotations

import ctypes
import time
from typing import Any

import hostlib

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int,
                            ctypes.c_void_p)
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def stream_of(lib: Any, flags: int = 0, priority: int = 0) -> ctypes.c_void_p:
    stream = ctypes.c_void_p()
    assert lib.cudaStreamCreateWithPriority(
        ctypes.byref(stream), flags, priority) == 0
    return stream


def event_of(lib: Any, flags: int = 0) -> ctypes.c_void_p:
    event = ctypes.c_void_p()
    assert lib.cudaEventCreateWithFlags(ctypes.byref(event), flags) == 0
    return event


def test_flags_and_priority_are_kept(lib: Any) -> None:
    flags, priority = ctypes.c_uint(), ctypes.c_int()
    for wanted, kept in ((-3, -3), (-99, -5), (7, 0)):
        stream = stream_of(lib, 1, wanted)
        lib.cudaStreamGetFlags(stream, ctypes.byref(flags))
        lib.cudaStreamGetPriority(stream, ctypes.byref(priority))
        assert (flags.value, priority.value) == (1, kept)
        assert lib.cudaStreamDestroy(stream) == 0


def test_stale_stream(lib: Any) -> None:
    stream = stream_of(lib)
    lib.cudaStreamDestroy(stream)
    for status in (lib.cudaStreamSynchronize(stream),
                   lib.cudaStreamDestroy(stream)):
        assert status == hostlib.INVALID_HANDLE
        assert 'no live stream' in hostlib.error_text(lib, status)


def test_special_streams(lib: Any) -> None:
    for stream in (None, ctypes.c_void_p(1), ctypes.c_void_p(2)):
        assert lib.cudaStreamSynchronize(stream) == 0
        assert lib.cudaStreamQuery(stream) == 0
        assert lib.cudaStreamDestroy(stream) == hostlib.INVALID_HANDLE


def test_elapsed_time(lib: Any) -> None:
    start, end = event_of(lib), event_of(lib)
    lib.cudaEventRecord(start, None)
    time.sleep(0.02)
    lib.cudaEventRecord(end, None)
    milliseconds = ctypes.c_float()
    assert lib.cudaEventElapsedTime(
        ctypes.byref(milliseconds), start, end) == 0
    assert 19 < milliseconds.value < 5000


def test_elapsed_time_needs_recorded_events_with_timing(lib: Any) -> None:
    milliseconds = ctypes.c_float()
    for flags, text in ((0, 'never recorded'), (2, 'timing disabled')):
        event = event_of(lib, flags)
        status = lib.cudaEventElapsedTime(
            ctypes.byref(milliseconds), event, event)
        assert status == hostlib.INVALID_HANDLE
        assert text in hostlib.error_text(lib, status)


def test_events_complete_at_once(lib: Any) -> None:
    event, stream = event_of(lib), stream_of(lib)
    assert lib.cudaEventRecord(event, stream) == 0
    assert lib.cudaEventQuery(event) == 0
    assert lib.cudaEventSynchronize(event) == 0
    assert lib.cudaStreamWaitEvent(stream, event, 0) == 0
    lib.cudaEventDestroy(event)
    assert lib.cudaEventQuery(event) == hostlib.INVALID_HANDLE


def test_callbacks_run_with_their_data(lib: Any) -> None:
    calls: list[object] = []
    callback = CALLBACK(lambda s, status, data: calls.append((s, status,
                                                              data)))
    function = HOST_FUNCTION(calls.append)
    stream = stream_of(lib)
    assert lib.cudaStreamAddCallback(
        stream, callback, ctypes.c_void_p(42), 0) == 0
    assert lib.cudaLaunchHostFunc(stream, function, ctypes.c_void_p(43)) == 0
    lib.cudaStreamSynchronize(stream)
    assert calls == [(stream.value, 0, 42), 43]


def test_a_stream_is_never_capturing(lib: Any) -> None:
    capturing = ctypes.c_int(5)
    assert lib.cudaStreamIsCapturing(None, ctypes.byref(capturing)) == 0
    assert capturing.value == 0
    status = lib.cudaStreamBeginCapture(None, 0)
    assert status == hostlib.NOT_SUPPORTED
    assert 'cudaStreamBeginCapture is not implemented on the host device' \
        in hostlib.error_text(lib, status)
