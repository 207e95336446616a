"""The prompt: what it completes, when Enter sends, and one sitting at a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from delta_tables.asking.lakes import Lake
from delta_tables.asking.question import Limits
from delta_tables.catalog import TABLE_BY_NAME
from tests.delta_tables.small_lake import write_lake
from zklake.cli.asking import Scope
from zklake.cli.completion import suggest
from zklake.cli.prompt import Prompt, is_complete, open_session, split_command


def words(before: str, after: str = "") -> list[str]:
    return [one.word for one in suggest(before, after)]


def test_after_from_come_tables_only() -> None:
    assert words("SELECT * FROM part") == ["partition_state", "partition_health"]
    assert "topics" in words("SELECT 1 FROM topics JOIN ")
    assert words("describe top") == ["topics"]
    assert words("at -15m top") == ["topics"]


def test_columns_are_those_of_the_tables_that_are_named() -> None:
    assert words("SELECT lead", " FROM partition_state")[:3] == [
        "leader",
        "leader_epoch",
        "leader_recovery_state",
    ]
    assert "controller_id" not in words("SELECT c", " FROM partition_state")
    assert "is_offline" in words("SELECT is_", " FROM partition_health")
    assert "group_id" in words("SELECT grou")


def test_sql_words_functions_and_commands() -> None:
    assert words("sel") == ["SELECT"]
    assert "date_trunc(" in words("SELECT date_t")
    assert words("des")[0] == "describe"
    assert "describe" not in words("SELECT des")
    assert words("SELECT") == []


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("tables", ("tables", "")),
        ("\\d", ("describe", "")),
        (".tables", ("tables", "")),
        (".help", ("help", "")),
        (".QUIT", ("exit", "")),
        (".schema topics", ("describe", "topics")),
        ("show  tables", ("tables", "")),
        ("\\d topics", ("describe", "topics")),
        ("DESC topics", ("describe", "topics")),
        ("at -15m topics topic = 'a'", ("at", "-15m topics topic = 'a'")),
        ("quit", ("exit", "")),
        ("SELECT 1", ("", "SELECT 1")),
    ],
)
def test_commands(text: str, command: tuple[str, str]) -> None:
    assert split_command(text) == command


@pytest.mark.parametrize(
    ("text", "is_sent"),
    [
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT\n1\n", True),
        ("tables", True),
        ("", True),
        (".hlep", True),
    ],
)
def test_when_enter_sends(text: str, is_sent: bool) -> None:
    assert is_complete(text) is is_sent


@pytest.fixture(scope="module")
def scope(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    path = str(tmp_path_factory.mktemp("lake"))
    rows = [{"topic": "orders\x1b[31m", "valid_from_at": "2026-11-16T03:00:00Z"}]
    write_lake(path, "kafka", {"topics": rows}, [TABLE_BY_NAME["topics"]])
    return Scope([Lake(path, "kafka")], Limits())


def test_a_sitting(
    scope: Scope,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with create_pipe_input() as keys:
        session = open_session(input=keys, output=DummyOutput())
        lines = (
            "SELECT topic\rFROM topics;",
            "SELECT nothing FROM topics;",
            "help",
            "tables",
            "describe topics",
            "at now topics partition_count IS NULL",
            "at now",
            "\\d",
            "\\d topics;",
            ".hlep",
            "\\x",
            ".quit",
        )
        keys.send_text("".join(f"{line}\r" for line in lines))
        Prompt(scope, "table", session).run()
    out, err = capsys.readouterr()
    assert "topic\norders\\x1b[31m\n" in out
    assert "\x1b" not in out
    assert "error: line 1, column 8: no column 'nothing'" in err
    assert "Tab completes" in out
    assert out.count("One row per state of one topic") == 2
    assert out.count("state of one topic") == 4  # and twice in the list of tables
    assert "error: no command '.hlep'; did you mean .help?" in err
    assert "error: no command '\\\\x'; help lists them" in err
    assert out.count("orders\\x1b[31m") == 2
    assert "error: '': no table that could be asked about a moment" in err
    history = tmp_path / "zklake" / "sql_history"
    assert "+FROM topics;" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


@contextmanager
def sit_down(scope: Scope, state: Path) -> Iterator[tuple[FileIO, subprocess.Popen[bytes]]]:
    """A terminal at which the prompt stands, and its process."""
    mine, theirs = pty.openpty()
    # An object that is closed once: a bare number closed twice may be another thread's by then.
    terminal = FileIO(mine, "r+")
    environment = os.environ | {"XDG_STATE_HOME": str(state), "TERM": "xterm", "PAGER": "cat"}
    command = [sys.executable, "-m", "zklake", "sql", "--lake", scope.lakes[0].path]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=pipe, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        wait_for(terminal, b"zklake>")
        yield terminal, process
    finally:
        process.kill()
        process.communicate()
        terminal.close()


def test_at_a_real_terminal(scope: Scope, tmp_path: Path) -> None:
    with sit_down(scope, tmp_path) as (terminal, process):
        terminal.write(b"SELECT 'forty' || 'two' AS answer;\r")
        wait_for(terminal, b"fortytwo.*zklake>")
        terminal.write(b"\x04")
        assert process.wait(timeout=30) == 0


def test_it_ends_without_a_word_when_the_terminal_is_gone(scope: Scope, tmp_path: Path) -> None:
    with sit_down(scope, tmp_path) as (terminal, process):
        terminal.close()
        assert process.communicate(timeout=30)[1] == b""
        assert process.returncode == 0


def wait_for(terminal: FileIO, pattern: bytes) -> None:
    seen, deadline = b"", time.monotonic() + 60
    while not re.search(pattern, seen, re.DOTALL):
        assert time.monotonic() < deadline, seen
        if select.select([terminal], [], [], 0.2)[0]:
            seen += (read := terminal.read(65536) or b"")
            if b"\x1b[6n" in read:  # it asks where the cursor stands
                terminal.write(b"\x1b[1;1R")
