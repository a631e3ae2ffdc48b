"""Renders the override protocol as a series of patches for CuPy.

The edits of kind ``upstream`` and the files that belong to them, grouped as
``edits/patches.toml`` says, are committed to a copy of a CuPy source tree
and written by ``git format-patch``. The host device and what only builds the
fork stay out.
"""
from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
import shutil
import subprocess
import sys
import tarfile
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'install'))

from cupy_overlay import _apply  # noqa: E402
from cupy_overlay import _edits  # noqa: E402
from cupy_overlay import _toml  # noqa: E402

_IDENTITY = ('-c', 'user.name=cupy-ufunc-override',
             '-c', 'user.email=cupy-ufunc-override@localhost')


def git(tree: Path, *arguments: str) -> str:
    """Runs git in the tree, independent of the user's configuration."""
    done = subprocess.run(
        ['git', *_IDENTITY, *arguments], cwd=tree, text=True, check=True,
        capture_output=True)
    return done.stdout


def pristine(source: Path, work: Path) -> Path:
    """Copies an sdist or a source tree and commits it as the base."""
    shutil.rmtree(work, ignore_errors=True)
    if source.is_dir():
        tree = work
        shutil.copytree(source, tree, ignore=shutil.ignore_patterns('.git'))
    else:
        with tarfile.open(source) as archive:
            archive.extractall(work)
        [tree] = work.iterdir()
    git(tree, 'init', '-q')
    git(tree, 'add', '-A', '-f')
    git(tree, 'commit', '-q', '-m', 'base')
    git(tree, 'tag', 'base')
    return tree


def edits_of(patch: dict[str, Any]) -> Iterator[_edits.Edit]:
    for name in patch['edits']:
        for table in _toml.load(ROOT / 'edits' / name)['edit']:
            edit = _edits.parse(table, name)
            if edit.kind == 'upstream':
                yield edit


def commit(tree: Path, patch: dict[str, Any]) -> list[str]:
    """Makes one commit; returns what did not find its place."""
    problems = []
    for edit in edits_of(patch):
        path = tree / edit.file
        try:
            if not path.exists():
                raise edit.error('there is no such file')
            text = _apply.apply(path.read_text('utf-8'), edit, fresh=True)
        except _edits.EditError as error:
            problems.append(str(error))
        else:
            path.write_text(text, 'utf-8')
    for name in patch['files']:
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == '.rst':  # CuPy's documentation has no Markdown
            target.write_text(as_rst(ROOT / Path(name).with_suffix('.md')),
                              'utf-8')
        else:
            shutil.copyfile(ROOT / name, target)
    git(tree, 'add', '-A')
    why = dict.fromkeys(f'* {e.file}: {e.why}' for e in edits_of(patch))
    message = '\n'.join([patch['title'], '', *why])
    git(tree, 'commit', '-q', '-m', message)
    return problems


def as_rst(page: Path) -> str:
    """Converts a page of our guide to reStructuredText."""
    import pypandoc
    text: str = pypandoc.convert_text(
        page.read_text('utf-8'), 'rst', format='gfm',
        extra_args=['--columns=79'])
    return text


def write(tree: Path, out: Path, cover: str) -> None:
    """Writes the series and its cover letter."""
    shutil.rmtree(out, ignore_errors=True)
    git(tree, 'format-patch', '-q', '--cover-letter', '--no-signature',
        '-o', str(out), 'base')
    letter = out / '0000-cover-letter.patch'
    text = letter.read_text('utf-8')
    text = text.replace('*** SUBJECT HERE ***',
                        'Ask __array_ufunc__ of foreign operands (NEP 13)')
    text = text.replace('*** BLURB HERE ***', cover.strip())
    letter.write_text(text, 'utf-8')


def changed_lines(tree: Path) -> int:
    """Lines added or removed in files that upstream has, but tests."""
    stat = git(tree, 'diff', '--numstat', '--diff-filter=M', 'base', '--',
               '.', ':!tests')
    return sum(int(n) for line in stat.splitlines()
               for n in line.split('\t')[:2])


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('source', type=Path, help='sdist or source tree')
    parser.add_argument('--out', type=Path,
                        default=ROOT / 'build' / 'upstream-patch')
    arguments = parser.parse_args(argv)
    plan = _toml.load(ROOT / 'edits' / 'patches.toml')
    work = ROOT / 'build' / 'upstream-tree'
    tree = pristine(arguments.source.resolve(), work)
    problems = [p for patch in plan['patch'] for p in commit(tree, patch)]
    write(tree, arguments.out.resolve(), plan['cover'])
    print(f'{len(plan["patch"])} patches in {arguments.out}, '
          f'{changed_lines(tree)} lines changed in files of upstream')
    for problem in problems:
        print(f'NO PLACE: {problem}', file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
