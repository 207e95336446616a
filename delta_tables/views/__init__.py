"""Views: SQL over the tables, for what only compares them. One view, one file.

A view may build on views that come before it in VIEWS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import takewhile

from delta_tables.catalog import TABLE_BY_NAME

_COMMENT = re.compile(r"--[^\n]*")
_SOURCE = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")


@dataclass(frozen=True)
class View:
    """A named query; its file's first line says what it answers."""

    name: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The tables and the views before it that it names, in that order."""
        return _find_sources(self.name)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tables that it reads, itself or through other views."""
        return _find_inputs(self.name)

    @property
    def sql(self) -> str:
        """The query."""
        return _read(self.name)

    @property
    def says(self) -> str:
        """The question it answers."""
        return self.sql.splitlines()[0].removeprefix("-- ")

    @property
    def notes(self) -> str:
        """What its reader must know beyond that: the other comments at its head."""
        lines = takewhile(lambda line: line.startswith("--"), self.sql.splitlines()[1:])
        return " ".join(line.removeprefix("-- ") for line in lines)


VIEWS: tuple[View, ...] = tuple(
    map(
        View,
        (
            "partition_health",
            "log_ends_now",
            "lag_now",
            "group_lag_now",
            "group_lag_history",
            "lag_history",
            "ownership_now",
            "conformance",
            "unowned_time",
            "rebalance_frequency",
            "rebalance_cost",
            "pause_spans",
            "broker_absence_cost",
            "group_coordinators",
            "under_replicated_time",
            "isr_flaps",
            "broker_flaps",
            "controller_changes",
            "root_cause",
            # Those that build on others come behind them.
            "migration_readiness",
        ),
    )
)


@cache
def _find_sources(name: str) -> tuple[str, ...]:
    # Our own SQL, in which a table stands behind FROM or JOIN: a parser, which the stream does not
    # even have, says the same in a test.
    text = _COMMENT.sub("", _read(name))
    known = {*TABLE_BY_NAME, *(view.name for view in VIEWS)}
    return tuple(one for one in dict.fromkeys(_SOURCE.findall(text)) if one in known)


@cache
def _find_inputs(name: str) -> tuple[str, ...]:
    found: list[str] = []
    for source in _find_sources(name):
        found += [source] if source in TABLE_BY_NAME else _find_inputs(source)
    return tuple(dict.fromkeys(found))


@cache
def _read(name: str) -> str:
    return (files(__name__) / f"{name}.sql").read_text()
