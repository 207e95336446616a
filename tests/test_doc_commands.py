"""Every `zklake …` line that a document shows is taken by the command, and its SQL is answered."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from delta_tables.asking.querying import check_query
from delta_tables.catalog import TABLES
from delta_tables.reading import find_views, open_tables, query_rows
from tests.delta_tables.empty_lake import make_empty_lake
from tests.test_docs import DOCUMENTS, find_code
from zklake.cli.main import app

# What a shell does with the line begins here.
_SHELL = {"<", "|", ">", ">>", "2>", "2>&1", "&", "&&", ";", "#"}
_START = re.compile(r"(?:\$ |.*\s)?(?:\.venv/bin/|/opt/zklake/bin/)?zklake (?=[a-z-])")
_NAMED = re.compile(r"^zklake( [a-z]+)*$")
# Typer has a Click of its own; this is its UsageError.
_WRONG: Any = typer.BadParameter.__mro__[1]
APP = typer.main.get_command(app)


def find_lines(path: Path) -> Iterator[str]:
    """Lines with a command, also behind what runs it in a container or a pipe."""
    for line in find_code(path.read_text()):
        if re.match(r"(\$ |\.venv/bin/)*zklake |.*(-- | dashboard | \| |bin/)zklake [a-z]", line):
            yield _START.sub("zklake ", line, count=1)


def split(line: str) -> list[str]:
    """The words that the command gets."""
    words = shlex.split(line, comments=True)
    ends = [place for place, word in enumerate(words) if word in _SHELL]
    return words[1 : ends[0]] if ends else words[1:]


def parse(words: list[str]) -> tuple[str, dict[str, Any]]:
    """The command and its parameters, as if it was called; what it does not take raises."""
    command: Any = APP
    context: Any = None
    name = "zklake"
    while True:
        context = command.make_context(name, list(words), parent=context)
        if not hasattr(command, "commands"):
            return context.command_path, context.params
        words = [*context._protected_args, *context.args]
        name = words[0]
        command, words = command.commands[name], words[1:]


LINES = sorted(
    {(path.name, line) for path in DOCUMENTS for line in find_lines(path) if not _NAMED.match(line)}
)


@pytest.mark.parametrize(("document", "line"), LINES)
def test_a_command_takes_what_is_shown(document: str, line: str) -> None:
    words = split(line)
    if words[-1] == "--help":
        # It would be printed; what comes before it is a command.
        words.pop()
    assert not words or parse(words)


def find_queries() -> Iterator[tuple[str, str]]:
    for document, line in LINES:
        words = split(line)
        if words[:1] == ["sql"] and len(words) > 1 and not words[1].startswith("-"):
            yield document, words[1]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("lake"))
    make_empty_lake(path, "c", TABLES)
    return path


@pytest.mark.parametrize(("document", "sql"), sorted(set(find_queries())))
def test_a_query_that_is_shown_is_answered(document: str, sql: str, lake: str) -> None:
    tables = open_tables(lake, "c")
    names = {*tables, *(view.name for view in find_views(tables))}
    query_rows(tables, check_query(sql, names).sql)


def test_a_line_that_is_wrong_is_found() -> None:
    for line in (
        "zklake sql --cvs",
        "zklake at now",
        "zklake alerts tset",
        "zklake jars fetch --x",
    ):
        with pytest.raises((_WRONG, KeyError)):
            parse(split(line))
    assert parse(split("zklake at -15m topics | head"))[1]["time"] == "-15m"
