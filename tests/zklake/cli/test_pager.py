from __future__ import annotations

import sys
from pathlib import Path

import pytest

from zklake.cli.answers import lay_out
from zklake.cli.pager import page


def pretend_terminal(monkeypatch: pytest.MonkeyPatch, pager: str) -> None:
    """24 × 80; set up inside the test, because pytest changes sys.stdout before it."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for name, value in {"LINES": "24", "COLUMNS": "80", "PAGER": pager}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("lines", "is_paged"), [(["x"] * 23, False), (["x"] * 24, True), (["x" * 81], True)]
)
def test_what_does_not_fit_goes_to_the_pager(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    lines: list[str],
    is_paged: bool,
) -> None:
    pretend_terminal(monkeypatch, f"tee {tmp_path}/given")
    page(lines)
    assert (tmp_path / "given").exists() is is_paged
    assert capfd.readouterr().out.splitlines() == lines


def test_without_a_pager_it_is_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pretend_terminal(monkeypatch, "no-such-program --at-all")
    page(["x"] * 100)
    assert capfd.readouterr().out == "x\n" * 100


def test_columns_are_as_wide_as_what_is_seen() -> None:
    lines = list(lay_out(("a", "b"), [("日本", 1), (None, [True, "x"])]))
    assert lines == ["a     b", "日本  1", '      [true,"x"]']
