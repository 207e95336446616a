"""What a table is: its columns with type, comment and how they are read, its key, its files.

Plain values and functions: whoever creates, folds, reads or documents a table starts here. It knows
nothing of Spark, of Kafka or of any single table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from delta_tables.observation import Read
from delta_tables.samples import Samples

Folded = Literal[
    "append",  # records are added, and never change
    "intervals",  # rows are states of single znodes: its definition says all there is to say
    "steps",  # rows are states too; what several znodes say makes them, in a file of their own
    "groups",  # likewise, by a fold that remembers more than the table's own rows
]

EndedBy = Literal[
    "deleted",
    "session_ended",
    "migrated",
    "changed",
    "recreated",
    "unreadable",
    "resync",
    "in_sync",
    "finished",
    "refused",
    "cancelled",
    "removed",
    "settled",
    "failed",
    "progress",
    "emptied",
]

ENDED_BY: dict[str, str] = {
    "deleted": "the znode was deleted, or a Kafka-stored group no longer has it",
    "session_ended": "the session that held it ended, and all its ephemerals with it",
    "migrated": "the broker left ZooKeeper while a KRaft controller was active: it did not fail",
    "changed": "another state followed",
    "recreated": "another life of the znode was met, and nobody saw this one end",
    "unreadable": "what followed could not be decoded, or did not fit a record",
    "resync": "a complete look, with nothing older to vouch for it, did not meet it",
    "in_sync": "the watcher saw everything again",
    "finished": "the controller was done with it",
    "refused": "the request to delete a topic went, and the topic did not",
    "cancelled": "a reassignment was taken back, or overtaken, before it was done",
    "removed": "the override is no longer among those of the entity",
    "settled": "every partition had its owner again",
    "failed": "the group gave up, and partitions stayed without an owner",
    "progress": "a commit moved the offset forward",
    "emptied": "nothing was left to read",
}
# How the rows of a znode can end, whatever it says.
ZNODE_ENDS: tuple[EndedBy, ...] = (
    "deleted",
    "session_ended",
    "changed",
    "recreated",
    "unreadable",
    "resync",
)
# Those of a znode that is nobody's ephemeral.
PERSISTENT_ENDS: tuple[EndedBy, ...] = tuple(end for end in ZNODE_ENDS if end != "session_ended")


@dataclass(frozen=True)
class Column:
    """One column. `read` takes it from a znode; without it the fold itself fills the column in."""

    name: str
    type: str
    comment: str
    read: Read | None = None
    required: bool = False


@dataclass(frozen=True)
class AsOf:
    """A column of another table, as it stood at an event's seq."""

    table: str
    column: str


def name_delete(closes_session: bool, inputs: Mapping[str, Any]) -> EndedBy:
    """The word for a delete; `inputs` are the columns that the table reads of others."""
    return "session_ended" if closes_session else "deleted"


@dataclass(frozen=True)
class Table:
    """One table. `columns` stand in the order in which they are stored."""

    name: str
    grain: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    folded: Folded = "append"
    # Which kinds of znode it is made of.
    kinds: tuple[str, ...] = ()
    # What brokers say, where it makes rows too; such a table has a `coordinator`.
    samples: Samples | None = None
    # What may end a row; of a delete, a table may say more than `deleted` or `session_ended`.
    ends: tuple[EndedBy, ...] = ()
    name_delete: Callable[[bool, Mapping[str, Any]], EndedBy] = name_delete
    # Whether a state only goes on with the one before: of such, a row a minute is kept.
    is_progress: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = None
    # Tables that commit before this one, because it reads them as of each event's seq.
    as_of: tuple[AsOf, ...] = ()
    partition_by: tuple[str, ...] = ()
    # How long closed rows are kept; None: for ever.
    retention_days: int | None = None
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def is_interval(self) -> bool:
        """Whether rows are states that open and close, rather than records that are appended."""
        return self.folded != "append"

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in stored order."""
        return tuple(column.name for column in self.columns)

    @property
    def made(self) -> tuple[Column, ...]:
        """The columns that are read off a znode."""
        return tuple(column for column in self.columns if column.read is not None)
