"""The page of supported instructions is generated and current."""
from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import pytest

TOOL = pathlib.Path(__file__).parents[3] / 'tools' / 'ptx_coverage.py'


@pytest.fixture(scope='module')
def tool() -> Any:
    spec = importlib.util.spec_from_file_location('ptx_coverage', TOOL)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_page_is_current(tool: Any) -> None:
    assert tool.main(['--check']) == 0


def test_an_old_page_is_noticed(
        tool: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / 'developer' / 'page.rst'
    monkeypatch.setattr(tool, 'PAGE', page)
    assert tool.main([]) == 0
    assert tool.main(['--check']) == 0
    page.write_text(page.read_text() + 'more\n')
    assert tool.main(['--check']) == 1
    assert 'not current' in capsys.readouterr().err
