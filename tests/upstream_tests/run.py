"""Runs upstream's own tests, from the pinned sdist, on the installed fork.

The tests are unpacked below ``build/`` and run unchanged. What the host
device leaves out and what is known to fail stands in ``known_failures.toml``
with a reason each; everything else has to pass, and a known failure that
passes is a failure, too. A table with one line per file is printed.
"""
from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import subprocess
import sys
import tarfile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / 'install'))

from cupy_overlay import _config  # noqa: E402
from cupy_overlay import _fetch  # noqa: E402
from cupy_overlay import _pins  # noqa: E402

WORK = ROOT / 'build' / 'upstream-tests'

_CORE = 'cupy_tests/core_tests/'
SUITES = [
    _CORE + 'test_elementwise.py',
    _CORE + 'test_userkernel.py',
    _CORE + 'test_ufunc_methods.py',
    _CORE + 'test_ndarray_ufunc.py',
    _CORE + 'test_ndarray_elementwise_op.py',
    _CORE + 'test_ndarray_unary_op.py',
    _CORE + 'test_raw.py',
    _CORE + 'test_gufuncs.py',
    _CORE + 'fusion_tests',
    'cupy_tests/test_numpy_interop.py',
    'cupy_tests/functional_tests',
    'cupy_tests/math_tests',
    'cupy_tests/logic_tests',
    'cupy_tests/binary_tests',
    'cupyx_tests/scipy_tests/special_tests',
    # The other files of distributed_tests need several devices or NCCL.
    'cupyx_tests/distributed_tests/test_index_arith.py',
]


def pinned_sdist() -> Path:
    pins = _pins.load(ROOT)
    return _fetch.fetch(_config.read(ROOT), pins.sdist, pins.sdist_sha256)


def unpack(sdist: Path) -> Path:
    """Unpacks the tests and their configuration; returns their folder."""
    folder = WORK / sdist.name.removesuffix('.tar.gz')
    done = folder / '.unpacked'
    if not done.exists():
        print(f'Unpacking the tests of {sdist.name}', flush=True)
        with tarfile.open(sdist) as archive:
            for member in archive:
                head, _, name = member.name.partition('/')
                if name.startswith('tests/') or name == 'pyproject.toml':
                    member.name = name
                    archive.extract(member, folder)
        done.touch()
    return folder


def pytest_command(arguments: argparse.Namespace, results: Path) -> list[str]:
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'upstream_plugin',
               '-p', 'no:cacheprovider', '--tb=short', '-rfE',
               '-m', 'not multi_gpu and not slow',
               f'--upstream-results={results}',
               f'--upstream-sample={arguments.sample}']
    if arguments.jobs > 1:
        command += ['-n', str(arguments.jobs), '--dist', 'loadgroup']
    return command + (arguments.tests or SUITES)


def table(counts: dict[str, dict[str, int]]) -> str:
    """Formats the outcomes of each file and their sum."""
    names = ['passed', 'failed', 'known', 'left out', 'skipped']
    lines = [f'{"file":64}' + ''.join(f'{n:>9}' for n in names)]
    total = dict.fromkeys(names, 0)
    for file, found in sorted(counts.items()):
        lines.append(f'{file:64}' + ''.join(
            f'{found.get(n, 0):9}' for n in names))
        for name in names:
            total[name] += found.get(name, 0)
    lines.append(f'{"all":64}' + ''.join(f'{total[n]:9}' for n in names))
    counted = total['passed'] + total['failed'] + total['known']
    if counted:
        share = 100 * total['passed'] / counted
        lines.append(f'{share:.2f}% of the {counted} tests pass that are not '
                     'skipped or about something left out.')
    return '\n'.join(lines)


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--sample', type=int, default=1000, metavar='N',
                        help='run N of 1000 tests, always the same ones')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('tests', nargs='*', help='default: all suites')
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    arguments = parse(argv)
    folder = unpack(pinned_sdist())
    results = WORK / 'results.json'
    results.unlink(missing_ok=True)
    environment = dict(os.environ, PYTHONPATH=str(HERE))
    status = subprocess.run(
        pytest_command(arguments, results), cwd=folder / 'tests',
        env=environment).returncode
    if not results.exists():
        print('No results: pytest did not come to its end.')
        return status or 1
    print(table(json.loads(results.read_text())))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
