"""The examples in README and the user guide do what they say."""
from __future__ import annotations

import doctest
from pathlib import Path
import re
import subprocess
import sys

import pytest

pytest.importorskip('cupy')
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', *sorted(ROOT.glob('docs/source/**/*.md'))]
BLOCK = re.compile(r'^```python\n(.*?)^```', re.DOTALL | re.MULTILINE)


def blocks():
    for page in PAGES:
        found = BLOCK.findall(page.read_text('utf-8'))
        # What is typed at the prompt is one session for each page.
        session = '\n'.join(c for c in found if c.startswith('>>>'))
        programs = [c for c in found if not c.startswith('>>>')]
        for number, code in enumerate(filter(None, [session, *programs])):
            yield pytest.param(code, id=f'{page.name}-{number}')


@pytest.mark.parametrize('code', list(blocks()))
def test_block(code):
    if not code.startswith('>>>'):
        exec(compile(code, 'example', 'exec'), {})
        return
    test = doctest.DocTestParser().get_doctest(code, {}, 'example', None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0 and runner.tries > 0


def test_dimuon_analysis(tmp_path):
    program = ROOT / 'examples' / 'dimuon_mass.py'
    done = subprocess.run(
        [sys.executable, program, '20000', tmp_path / 'plot.png'],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'most at 91 GeV' in done.stdout
    assert 'both backends agree' in done.stdout
    assert (tmp_path / 'plot.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('page', PAGES, ids=lambda p: p.name)
def test_links(page):
    for target in re.findall(r'\]\(([^)#]+)\)', page.read_text('utf-8')):
        if '://' not in target:
            assert (page.parent / target).exists(), target
