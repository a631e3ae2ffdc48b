"""No code of upstream is in the repository: facts and names, not lines."""

from __future__ import annotations

import collections
import re
import subprocess
from pathlib import Path

import pytest

from cupy_overlay import _edits
from cupy_overlay import _sdist

# What every project writes alike, and what an interface dictates.
GENERIC = re.compile(r'''
    (from\s\S+\s(import|cimport)|import|cimport|\#\s*include)\s
    | @ | if\s__name__ | template\s?< | \.\.\ssee
    | (async\s)?def\s__\w+__\( | def\stest_\w+\(self\):
    | with\s(pytest\.raises|numpy\.errstate|warnings\.catch)
    | (cudaError_t|CUresult|curandStatus_t)\s\w+\(
    | (void|size_t)\s(cub|thrust)_\w+\(
    | typedef\sstruct\sCU\w+\s\*
    | \w+\s=\simportlib\.util\.\w+\(\w+\)
    | return\sstd::numeric_limits<\w+>::\w+\(\);
    | [\W_]*$
''', re.VERBOSE)
SHORT = 12  # a line up to this says nothing
# So much text is not alike by chance: in one line, in two that follow.
SINGLE, PAIR = 40, 55


def lines(text):
    """Numbered lines that are not blank, white space made alike."""
    rows = ((row, ' '.join(line.split()))
            for row, line in enumerate(text.splitlines(), 1))
    return [(row, line) for row, line in rows if line]


def telling(line):
    return len(line) > SHORT and not GENERIC.match(line)


def decoded(content):
    try:
        return content.decode()
    except UnicodeDecodeError:
        return ''


def find_foreign(ours, pristine):
    """Lines of ours that stand in upstream's files, as ``name:row: line``."""
    wanted = {line for text in ours.values() for _, line in lines(text)}
    places = collections.defaultdict(set)
    for name, content in pristine.items():
        for index, (_, line) in enumerate(lines(decoded(content))):
            if line in wanted:
                places[line].add((name, index))
    return [f'{name}:{row}: {line}' for name, text in ours.items()
            for row, line in _copied(lines(text), places)]


def _copied(numbered, places):
    """Long lines of upstream, and lines that follow one another there."""
    before, length = set(), 0
    for row, line in numbered:
        here = places.get(line, set()) if telling(line) else set()
        follows = here & {(name, index + 1) for name, index in before}
        if (here and len(line) >= SINGLE) or (
                follows and length + len(line) >= PAIR):
            yield row, line
        before, length = here, len(line)


def our_files(root):
    done = subprocess.run(['git', 'ls-files', '-z'], cwd=root, text=True,
                          capture_output=True)
    # An unpacked archive has no git.
    listed = done.stdout.split('\0') if done.returncode == 0 \
        else _sdist.listed(root)
    # The licence text is everybody's.
    return {name: decoded((root / name).read_bytes()) for name in listed
            if name and name != 'LICENSE' and (root / name).is_file()}


def test_no_line_of_upstream(root, pristine):
    ours = our_files(root)
    assert 'edits/series' in ours
    assert find_foreign(ours, pristine) == []


def test_no_line_of_upstream_in_edits(root, pristine):
    texts = {f'edit {edit.name}': edit.text
             for edit in _edits.load(root / 'edits')}
    assert find_foreign(texts, pristine) == []


@pytest.mark.parametrize('taken', [
    '    size_in_bytes = functools.reduce(operator.mul, shape)\n',
    'first = one_of_the(1, names)\n\n    second = two_of_the(2, names)\n',
])
def test_a_copied_line_is_found(taken):
    upstream = {'a.py': b'x = 1\n'
                b'size_in_bytes = functools.reduce(operator.mul, shape)\n'
                b'first = one_of_the(1, names)\n'
                b'second = two_of_the(2, names)\n'}
    found = find_foreign({'m.py': f'y = 2\n{taken}'}, upstream)
    assert found and found[0].startswith('m.py:')


@pytest.mark.parametrize('alike', [
    'import numpy\nimport cupy\n',
    'x = 1\n',
    'second = two(2)\nfirst = one(1)\n',
])
def test_common_lines_are_no_copies(alike):
    upstream = {'a.py': b'import numpy\nimport cupy\nx = 1\n'
                b'first = one(1)\nsecond = two(2)\n'}
    assert find_foreign({'m.py': alike}, upstream) == []


def test_root_is_this_repository(root):
    assert Path(__file__).is_relative_to(root)
