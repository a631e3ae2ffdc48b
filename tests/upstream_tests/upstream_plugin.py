"""pytest plugin: known failures, sampling and counts of upstream's tests."""
from __future__ import annotations

import collections
import fnmatch
import json
from pathlib import Path
import re
import zlib

import pytest

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

KNOWN = Path(__file__).with_name('known_failures.toml')


def pytest_addoption(parser):
    parser.addoption('--upstream-sample', type=int, default=1000)
    parser.addoption('--upstream-results', type=Path)


def pytest_configure(config):
    known = tomllib.loads(KNOWN.read_text('utf-8'))
    config.pluginmanager.register(_Outcomes(config, known), 'outcomes')


def pytest_collection_modifyitems(config, items):
    limit = config.getoption('upstream_sample')
    keep, drop = [], []
    for item in items:
        chosen = zlib.crc32(item.nodeid.encode()) % 1000 < limit
        (keep if chosen else drop).append(item)
    if drop:
        config.hook.pytest_deselected(items=drop)
        items[:] = keep
    known = config.pluginmanager.get_plugin('outcomes').known
    for item in items:
        for entry in known.get('failure', []):
            if _matches(item.nodeid, entry):
                item.add_marker(pytest.mark.xfail(
                    reason=entry['reason'], strict=True))


def _matches(nodeid, entry):
    # "[" has a meaning of its own for fnmatch, and node ids are full of it.
    nodeid = nodeid.replace('[', '(').replace(']', ')')
    return any(fnmatch.fnmatchcase(
        nodeid, p.replace('[', '(').replace(']', ')'))
        for p in entry['tests'])


class _Outcomes:
    """Tells what is left out from failures, and counts by file."""

    def __init__(self, config, known):
        self.config = config
        self.known = known
        self.counts = collections.defaultdict(collections.Counter)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if report.failed:
            reason = self._left_out(report.longreprtext)
            if reason:
                report.outcome = 'skipped'
                report.longrepr = (str(item.path), 0, f'left out: {reason}')

    def _left_out(self, text):
        for entry in self.known.get('left_out', []):
            if re.search(entry['error'], text):
                return entry['reason']
        return None

    def pytest_runtest_logreport(self, report):
        name = self._name(report)
        if name:
            self.counts[report.nodeid.split('::')[0]][name] += 1

    def _name(self, report):
        if report.failed:
            return 'failed'
        if report.skipped and hasattr(report, 'wasxfail'):
            return 'known'
        if report.skipped:
            text = str(report.longrepr)
            return 'left out' if 'left out: ' in text else 'skipped'
        return 'passed' if report.when == 'call' else None

    def pytest_sessionfinish(self):
        path = self.config.getoption('upstream_results')
        if path and not hasattr(self.config, 'workerinput'):
            path.write_text(json.dumps(self.counts, indent=1))
