"""A sample of upstream's tests, small enough for every run of ours."""
from __future__ import annotations

from pathlib import Path
import subprocess
import sys

import pytest

RUN = Path(__file__).with_name('run.py')


@pytest.mark.upstream
@pytest.mark.slow
def test_sample(capfd):
    """About one in fifty, always the same ones; `make test-upstream`: all."""
    status = subprocess.run(
        [sys.executable, RUN, '--sample', '20']).returncode
    assert status == 0, capfd.readouterr().out
