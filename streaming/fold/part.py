"""A part of a large stretch of the log: some znodes, folded apart from the rest of it. Pure.

The row of a persistent znode follows from its own events, and from what speaks of the tree as a
whole: gaps and frames. So such znodes can be divided between tasks; every one of them gets
gaps and frames. What looks at several znodes (sessions, groups, lag) stays with the walk over the
log: it follows some of these events, too, but makes no rows of them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

from delta_tables.catalog import INTERVAL_TABLES
from delta_tables.tables.partition_state import PARTITION_STATE
from streaming.fold.cluster import STEP_KINDS, ClusterFold
from streaming.fold.context import TreeSight
from streaming.fold.frames import Closure
from streaming.fold.group_folds import GROUP_KINDS, ZNODE_OPS
from streaming.fold.intervals import IntervalFold
from streaming.fold.life import Moment
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
PART_NAMES = tuple(table.name for table in PART_TABLES)
PART_KINDS = frozenset(kind for table in PART_TABLES for kind in table.kinds)
_FOLLOWED_KINDS = STEP_KINDS | GROUP_KINDS
# Those that the walk over the whole log must see.
WALKED_KINDS = _FOLLOWED_KINDS | {
    kind for table in INTERVAL_TABLES for kind in table.kinds if kind not in PART_KINDS
}
# What speaks of more than its own znode.
WHOLE_OPS = frozenset(("gap", "frame_begin", "in_sync", "seq_hole", "seq_repeat"))
_NO_INPUTS: Mapping[str, Any] = {}


def is_divisible(event: Event) -> bool:
    """Whether the event's row can be made apart from the rest of the log."""
    if event.op not in ZNODE_OPS or not event.path:
        return False
    return event.kind in PART_KINDS or event.kind not in WALKED_KINDS


class PartStart(NamedTuple):
    """What stood before the part's first event."""

    cluster: str
    # The open rows of every table; those of other parts' znodes are left alone.
    rows: Mapping[str, PackedRows]
    sight: TreeSight
    # By table: events up to this seq change nothing.
    horizons: Mapping[str, int]


def prepare_parts(fold: ClusterFold) -> PartStart:
    """What parts of the log from here on must know."""
    folds = {name: fold.intervals[name] for name in PART_NAMES}
    return PartStart(
        fold.cluster,
        {name: each.open.pack() for name, each in folds.items()},
        # The walk goes on meanwhile.
        copy.deepcopy(fold.sight),
        {name: each.horizon for name, each in folds.items()},
    )


class Part:
    """The rows of some znodes."""

    def __init__(self, start: PartStart) -> None:
        self.folds = {table.name: IntervalFold(table, start.cluster, {}) for table in PART_TABLES}
        for name, packed in start.rows.items():
            # A part is no file: all of its rows are one shard.
            self.folds[name].open.shards[0].rows = {**packed}
            self.folds[name].horizon = start.horizons[name]
        self._by_kind = {kind: fold for fold in self.folds.values() for kind in fold.table.kinds}
        self._keys: dict[str, set[Key]] = {name: set() for name in self.folds}
        self._states = self.folds[PARTITION_STATE.name]
        self._state_rows = self._states.open.shards[0]
        self._leader = self._states.payload_names.index("leader")
        self._sight = copy.deepcopy(start.sight)
        # The frames that ended rows, in order.
        self._closures: list[tuple[Closure, Moment]] = []

    def apply(self, event: Event) -> bool:
        """Take one event of the part's znodes, or of the whole tree; in order of seq.

        Returns whether the walk over the whole log must see it all the same.
        """
        context = self._sight.find_context(event)
        if context.closure is not None:
            self._closures.append((context.closure, context.find_resync(context.closure)))
        self._sight.apply(event)
        fold = self._by_kind.get(event.kind or "")
        is_followed = event.kind in _FOLLOWED_KINDS
        if fold is None or event.seq <= fold.horizon:
            return is_followed
        spot = fold.find_spot(event)
        if spot is None:
            return is_followed
        if self._closures:
            self._close(fold, spot.key)
        had_leader = fold is self._states and self._has_leader(spot.key)
        fold.apply(event, spot, context, _NO_INPUTS)
        self._keys[fold.table.name].add(spot.key)
        # Of partitions that had a leader and still have one, groups need not know.
        return is_followed and not (had_leader and self._has_leader(spot.key))

    def _has_leader(self, key: Key) -> bool:
        """Whether a partition's state is known, and does not say that it has no leader."""
        row = self._state_rows.get(key)
        return row is not None and row.values[self._leader] != -1

    def _close(self, fold: IntervalFold, key: Key) -> None:
        """Whether a znode was met by the frames so far is asked when its next event comes."""
        for closure, moment in self._closures:
            if closure.end_seq > fold.horizon:
                fold.close_key(key, closure, moment)

    def finish(self) -> dict[str, list[tuple[Key, bytes | None]]]:
        """Of each table the rows whose znodes had events, as they are now; None: it has ended."""
        for name, keys in self._keys.items():
            for key in keys if self._closures else ():
                self._close(self.folds[name], key)
        return {
            name: [(key, self.folds[name].open.pack_row(key)) for key in keys]
            for name, keys in self._keys.items()
        }
