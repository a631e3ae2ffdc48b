"""The examples in README and the user guide do what they say."""
from __future__ import annotations

import doctest
from pathlib import Path
import re

import pytest

pytest.importorskip('cupy')
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', *sorted(ROOT.glob('docs/source/**/*.md'))]
BLOCK = re.compile(r'^```python\n(.*?)^```', re.DOTALL | re.MULTILINE)


def blocks():
    for page in PAGES:
        for number, code in enumerate(BLOCK.findall(page.read_text('utf-8'))):
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


@pytest.mark.parametrize('page', PAGES, ids=lambda p: p.name)
def test_links(page):
    for target in re.findall(r'\]\(([^)#]+)\)', page.read_text('utf-8')):
        if '://' not in target:
            assert (page.parent / target).exists(), target
