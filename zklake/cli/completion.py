"""What may stand next in a half-written line: commands, tables, columns, SQL words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from delta_tables.asking.functions import FUNCTIONS
from delta_tables.asking.querying import list_columns
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.views import VIEWS

COMMANDS = {
    "tables": "list tables and views (also \\d, .tables)",
    "describe": "describe TABLE: columns, key, and why rows end (also \\d TABLE, .schema TABLE)",
    "at": "at TIME TABLE [CONDITION]: the rows that were valid at a time",
    "help": "show this help (also .help, \\?)",
    "exit": "quit (also .quit, \\q, Ctrl-D)",
}
_SQL_WORDS = """
SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET JOIN LEFT RIGHT FULL INNER CROSS ON USING AS
AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS CASE WHEN THEN ELSE END DISTINCT UNION ALL WITH DESC
ASC NULLS LAST FIRST OVER PARTITION INTERVAL TIMESTAMP DATE CAST FILTER EXPLAIN TRUE FALSE
"""
_LAST_WORD = re.compile(r"\w*$")
_WANTS_TABLE = re.compile(
    r"(?:\b(?:from|join|describe|desc|schema)|^\s*at\s+\S+|\\d)\s+\w*$", re.IGNORECASE
)


class Suggestion(NamedTuple):
    """A word, and what it is."""

    word: str
    says: str


def suggest(before: str, after: str = "") -> list[Suggestion]:
    """What may stand at the cursor, best first."""
    started = _find_last_word(before)
    fitting = [one for one in _list(before, before + after) if _fits(one.word, started)]
    return list({one.word: one for one in reversed(fitting)}.values())[::-1]


def _list(before: str, text: str) -> Iterator[Suggestion]:
    if _WANTS_TABLE.search(before):
        yield from _list_tables()
        return
    if not before.removesuffix(_find_last_word(before)).strip():
        yield from (Suggestion(word, says) for word, says in COMMANDS.items())
    named = [name for name in _columns() if re.search(rf"\b{name}\b", text, re.IGNORECASE)]
    for name in named:
        yield from _columns()[name]
    yield from (Suggestion(word, "SQL") for word in _SQL_WORDS.split())
    yield from _list_tables()
    if not named and _find_last_word(before):
        yield from (one for columns in _columns().values() for one in columns)
    yield from (Suggestion(f"{name}(", "function") for name in sorted(FUNCTIONS))


def _find_last_word(before: str) -> str:
    found = _LAST_WORD.search(before)
    return found[0] if found else ""


def _fits(word: str, started: str) -> bool:
    return word.lower().startswith(started.lower()) and word.lower() != started.lower()


def _list_tables() -> Iterable[Suggestion]:
    yield from (Suggestion(table.name, table.grain) for table in TABLES)
    yield from (Suggestion(view.name, view.says) for view in VIEWS)


def _columns() -> dict[str, list[Suggestion]]:
    if not _found:
        for table in TABLE_BY_NAME.values():
            _found[table.name] = [Suggestion(c.name, c.comment) for c in table.columns]
        for view in VIEWS:
            _found[view.name] = [Suggestion(c.name, view.name) for c in list_columns(view.sql)]
    return _found


_found: dict[str, list[Suggestion]] = {}
