"""The page shows what it computes: its blocks of Python print the blocks of text that follow them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "README.md"


def test_the_page_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 4
    names: dict[str, object] = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)  # as a reader would, one after another
        assert printed.getvalue() == shown, code
    assert (tmp_path / "wythoff.png").read_bytes().startswith(b"\x89PNG")
