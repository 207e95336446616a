"""The fold without a lake: logs of many clusters, side by side, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from delta_tables.catalog import INTERVAL_TABLES, STEP_TABLES, TABLE_BY_NAME
from delta_tables.table import Table
from streaming.fold.cluster import ClusterFold
from streaming.lake.arrow_rows import make_arrow, make_arrow_of_tuples
from streaming.log.continuity import Entry
from zklake.events.envelope import Event, decode, encode

Row = dict[str, Any]


class Engine:
    """Folds batches as a stream would, of any number of clusters at once."""

    def __init__(self) -> None:
        self.folds: dict[str, ClusterFold] = {}
        self.closed: dict[tuple[str, str], list[Any]] = {}
        self._seen: dict[str, set[tuple[int, str]]] = {}

    def fold(self, batch: Iterable[Event]) -> None:
        for event in batch:
            # As records travel, and of two with one seq the first counts, as the stream judges it.
            seen = self._seen.setdefault(event.cluster, set())
            identity = (event.seq, event.gap.id if event.gap and event.op == "seq_repeat" else "")
            if identity not in seen:
                seen.add(identity)
                self._find(event.cluster, [Entry(decode(encode(event)), 0)])
        self._take()

    def finish(self) -> None:
        """Fold what was held back: nothing follows."""
        for fold in self.folds.values():
            fold.finish()
        self._take()

    def _find(self, cluster: str, entries: Sequence[Entry]) -> None:
        fold = self.folds.setdefault(cluster, ClusterFold(cluster))
        fold.walk(entries)

    def _take(self) -> None:
        for cluster, fold in self.folds.items():
            for name, interval in fold.intervals.items():
                self.closed.setdefault((cluster, name), []).extend(interval.ended)
                interval.settle(-1)
            for step in fold.steps:
                _, ended = step.take()
                self.closed.setdefault((cluster, step.fold.name), []).extend(
                    dict(row) for row in ended
                )

    def rows(self, name: str) -> list[Row]:
        """A table's rows as the lake would hold them, by cluster and place in the log."""
        table, rows = TABLE_BY_NAME[name], []
        for cluster, fold in self.folds.items():
            rows += self._read(table, cluster, fold)
        return sorted(rows, key=lambda row: (row["cluster"], row["valid_from_seq"]))

    def _read(self, table: Table, cluster: str, fold: ClusterFold) -> list[Row]:
        closed = self.closed.get((cluster, table.name), [])
        if table in INTERVAL_TABLES:
            interval = fold.intervals[table.name]
            interval.open.fit()
            opened = [row for shard in interval.open.shards for row in interval.list_rows(shard)]
            made = make_arrow_of_tuples(table, [*closed, *opened])
        else:
            assert table in STEP_TABLES
            made = make_arrow(table, [*closed, *getattr(fold.steps, table.name).fold.take()[0]])
        rows: list[Row] = made.to_pylist(maps_as_pydicts="strict")
        return rows
