"""A part of a large batch: the events of some znodes, folded apart from the rest of the log. Pure.

The row of a persistent znode follows from its own events alone, as long as nothing in the batch
speaks of the tree as a whole. So such znodes can be divided between tasks. What looks at several
znodes (sessions, groups, lag) stays with the walk over the log: it follows some of these events,
too, but makes no rows of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from delta_tables.catalog import INTERVAL_TABLES
from streaming.fold.cluster import STEP_KINDS
from streaming.fold.context import IN_SIGHT
from streaming.fold.group_folds import GROUP_KINDS, ZNODE_OPS
from streaming.fold.intervals import IntervalFold
from streaming.fold.open_rows import Key
from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME

# The open rows of a table, packed.
PackedRows = Mapping[Key, bytes]

PART_TABLES = tuple(
    table
    for table in INTERVAL_TABLES
    if not table.as_of and all(KIND_BY_NAME[kind].mode != "ephemeral" for kind in table.kinds)
)
_FOLLOWED_KINDS = STEP_KINDS | GROUP_KINDS
_TABLE_BY_KIND = {kind: table.name for table in INTERVAL_TABLES for kind in table.kinds}
_PART_NAMES = frozenset(table.name for table in PART_TABLES)
# What speaks of more than its own znode.
WHOLE_OPS = frozenset(("gap", "frame_begin", "in_sync", "seq_hole", "seq_repeat"))


def is_divisible(event: Event) -> bool:
    """Whether the event's row can be made apart from the rest of the log."""
    if event.op not in ZNODE_OPS or not event.path:
        return False
    table = _TABLE_BY_KIND.get(event.kind or "")
    return event.kind not in _FOLLOWED_KINDS if table is None else table in _PART_NAMES


def is_followed(event: Event) -> bool:
    """Whether the walk over the whole log must see the event all the same."""
    return event.kind in _FOLLOWED_KINDS


class Part:
    """The rows of some znodes."""

    def __init__(self, cluster: str, rows: Mapping[str, PackedRows]) -> None:
        """`rows`: the open rows of every table; those of other znodes are left alone."""
        self.folds = {table.name: IntervalFold(table, cluster, {}) for table in PART_TABLES}
        for name, packed in rows.items():
            self.folds[name].open.shards[0].rows = {**packed}
        self._by_kind = {kind: fold for fold in self.folds.values() for kind in fold.table.kinds}
        self._keys: dict[str, set[Key]] = {name: set() for name in self.folds}

    def apply(self, event: Event) -> None:
        """Take one event; they come in order of seq."""
        fold = self._by_kind.get(event.kind or "")
        spot = None if fold is None else fold.find_spot(event)
        if fold is not None and spot is not None:
            fold.apply(event, spot, IN_SIGHT, {})
            self._keys[fold.table.name].add(spot.key)

    def list_changed(self) -> dict[str, list[tuple[Key, bytes | None]]]:
        """Of each table the rows whose znodes had events, as they are now; None: it has ended."""
        return {
            name: [(key, self.folds[name].open.pack_row(key)) for key in keys]
            for name, keys in self._keys.items()
        }
