"""Views: SQL over the tables, for what only compares them. One view, one file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class View:
    """A named query; its file's first line says what it answers."""

    name: str
    inputs: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The query."""
        return _read(self.name)

    @property
    def says(self) -> str:
        """The question it answers."""
        return self.sql.splitlines()[0].removeprefix("-- ")


VIEWS: tuple[View, ...] = (
    View(
        "partition_health",
        ("partition_state", "topics", "broker_membership", "admin_operations", "controller"),
    ),
)


@cache
def _read(name: str) -> str:
    return (files(__name__) / f"{name}.sql").read_text()
