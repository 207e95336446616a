"""How far long work has come: lines, and a bar on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from zklake.progress import Lines, follow

WORK = """
from zklake.progress import follow, show_progress
with show_progress() as shown:
    shown.say("begins [red]")
    for piece in follow(shown, "pieces", ["a", "b"]):
        print(piece, flush=True)
"""


def test_a_line_for_each_tenth_and_for_the_end() -> None:
    lines: list[str] = []
    shown = Lines(lines.append)
    for done in range(0, 1001, 10):
        shown.show("events folded", done, 1000)
    assert lines[0] == "events folded: 0 of 1,000"
    assert lines[-1] == "events folded: 1,000 of 1,000"
    assert len(lines) == 11
    shown.show("tables", 0, None)
    assert lines[-1] == "tables: 0"


def test_nothing_to_do_is_said_once() -> None:
    lines: list[str] = []
    assert list(follow(Lines(lines.append), "tables", [])) == []
    assert lines == ["tables: 0"]


def test_elsewhere_than_on_a_terminal_there_are_lines() -> None:
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    assert done.stdout == "a\nb\n"
    assert done.stderr.splitlines()[:2] == ["begins [red]", "pieces: 0 of 2"]
    assert "\x1b" not in done.stderr


def test_a_bar_leaves_the_result_alone() -> None:
    mine, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", WORK], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=120)
    shown = b""
    try:
        while read := os.read(mine, 65536):
            shown += read
    except OSError:
        pass  # the other end is gone
    finally:
        os.close(mine)
    assert out == b"a\nb\n"
    assert b"begins [red]" in shown
    assert b"2/2" in shown
    assert "━".encode() in shown
