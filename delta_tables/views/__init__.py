"""Views: SQL over the tables, for what only compares them. One view, one file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import takewhile


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

    @property
    def notes(self) -> str:
        """What its reader must know beyond that: the other comments at its head."""
        lines = takewhile(lambda line: line.startswith("--"), self.sql.splitlines()[1:])
        return " ".join(line.removeprefix("-- ") for line in lines)


VIEWS: tuple[View, ...] = (
    View(
        "partition_health",
        ("partition_state", "topics", "broker_membership", "admin_operations", "controller"),
    ),
    View("group_lag_now", ("offset_lag", "consumer_membership", "ownership_history")),
    View("lag_history", ("offset_lag", "lag_rollups")),
    View("ownership_now", ("ownership_history", "consumer_membership", "topics", "offset_lag")),
    View("conformance", ("consumer_membership", "topics", "ownership_history")),
    View("unowned_time", ("ownership_history", "consumer_membership")),
    View("rebalance_frequency", ("rebalances",)),
    View("rebalance_cost", ("rebalances", "offset_lag")),
    View("migration", ("consumer_offsets", "consumer_membership")),
    View("under_replicated_time", ("partition_state", "topics")),
    View("isr_flaps", ("partition_state",)),
    View("broker_flaps", ("broker_membership",)),
    View("controller_changes", ("controller",)),
    View(
        "root_cause",
        (
            "offset_lag",
            "rebalances",
            "consumer_membership",
            "partition_state",
            "broker_membership",
            "config_history",
            "admin_operations",
            "controller",
        ),
    ),
)


@cache
def _read(name: str) -> str:
    return (files(__name__) / f"{name}.sql").read_text()
