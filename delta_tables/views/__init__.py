"""Views: SQL over the tables, for what only compares them. One view, one file."""

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
    def inputs(self) -> tuple[str, ...]:
        """The tables that it reads, in the order in which it names them."""
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
            "group_lag_now",
            "lag_history",
            "ownership_now",
            "conformance",
            "unowned_time",
            "rebalance_frequency",
            "rebalance_cost",
            "migration",
            "under_replicated_time",
            "isr_flaps",
            "broker_flaps",
            "controller_changes",
            "root_cause",
        ),
    )
)


@cache
def _find_inputs(name: str) -> tuple[str, ...]:
    # Our own SQL, in which a table stands behind FROM or JOIN: a parser, which the stream does not
    # even have, says the same in a test.
    text = _COMMENT.sub("", _read(name))
    return tuple(one for one in dict.fromkeys(_SOURCE.findall(text)) if one in TABLE_BY_NAME)


@cache
def _read(name: str) -> str:
    return (files(__name__) / f"{name}.sql").read_text()
