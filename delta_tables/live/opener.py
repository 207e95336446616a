"""The tables of one lake, opened in this process: looks for versions that belong together.

Whoever runs a query here shares the interpreter: planning and running do not hold it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from arro3.core import RecordBatch
from deltalake import DeltaTable, QueryBuilder

from delta_tables import reading
from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.parts import Parts
from delta_tables.live.ring import Opened, Ring
from delta_tables.live.snapshot import NAMES, Asking, Row, Snapshot, SnapshotGone, State
from delta_tables.tables.znode_events import ZNODE_EVENTS
from delta_tables.values import read_column
from zklake.errors import QueryError

# A batch commits table after table, znode_events last. One that is ahead of it is read as it was
# so many commits before, at most; where that does not help, the lake as it was is shown so long.
_STEPS_BACK = 4
_LONGEST_TORN_S = 5.0
_AGAIN_S = 0.02
# Pages ask for little, many at a time: one core each is faster than to divide every one of them.
_SETTINGS = {"datafusion.execution.target_partitions": "1"}
# How DataFusion says that a file is missing.
_GONE = "not found: no such file"
_FILE_COLUMNS = ("num_records", "size_bytes", "modification_time", "partition.is_open")


class _Watermark(NamedTuple):
    """Up to which event znode_events goes; None: not known."""

    log_id: str | None = None
    seq: int = -1
    first_ms: int | None = None
    last_ms: int | None = None


class Opener:
    """A lake's tables in this process; any number of threads may ask."""

    def __init__(self, lake: str, cluster: str, *, memory_bytes: int | None = None) -> None:
        self._memory_bytes = memory_bytes
        # Held while tables move, and while they are handed to an engine, which keeps them still.
        self._lock = threading.Lock()
        # znode_events first: what the others hold is then at least what it says.
        self._rings = {name: Ring(lake, cluster, name) for name in reversed(NAMES)}
        self._snapshot = Snapshot()
        self._watermarks: dict[State, _Watermark] = {}
        self._torn_since: float | None = None
        self._parts = Parts(_SETTINGS, memory_bytes, self._add_table)

    def look(self, *, anew: bool = False) -> Snapshot:
        """The newest versions that belong together: all that was folded up to one event."""
        with self._lock:
            while True:
                for ring in self._rings.values():
                    ring.look(anew=anew)
                watermark = self._read_watermark(self._rings[ZNODE_EVENTS.name].newest)
                chosen = self._choose_all(watermark)
                if chosen is not None:
                    break
                if self._snapshot.tables and not anew:
                    return self._snapshot
                time.sleep(_AGAIN_S)
            states = {name: chosen[name].state for name in NAMES if name in chosen}
            self._snapshot = Snapshot(states, watermark.first_ms, watermark.last_ms)
            return self._snapshot

    def _choose_all(self, watermark: _Watermark) -> dict[str, Opened] | None:
        """Every table up to the watermark; None: one of them cannot be had so, as yet."""
        newest = {n: ring.newest for n, ring in self._rings.items() if ring.newest is not None}
        chosen = {name: self._choose(name, one, watermark) for name, one in newest.items()}
        if all(one is not None for one in chosen.values()):
            self._torn_since = None
        elif self._torn_since is None:
            self._torn_since = time.monotonic()
        torn_since = self._torn_since
        if torn_since is not None and time.monotonic() - torn_since < _LONGEST_TORN_S:
            return None
        # If one of them is ahead for long, nobody will mend it: better what there is than what was.
        return {name: one or newest[name] for name, one in chosen.items()}

    def _choose(self, name: str, opened: Opened, watermark: _Watermark) -> Opened | None:
        """The last version that goes no further than the watermark."""
        for _ in range(_STEPS_BACK):
            if opened.state == self._snapshot.tables.get(name) or not _is_ahead(opened, watermark):
                return opened
            id_, version = opened.state
            try:
                opened = self._rings[name].find(State(id_, version - 1))
            except SnapshotGone:
                return None
        return None

    def _read_watermark(self, events: Opened | None) -> _Watermark:
        if events is None:
            return _Watermark()
        if events.state not in self._watermarks:
            self._watermarks = {events.state: _find_watermark(events.table)}
        return self._watermarks[events.state]

    def run(self, asking: Asking) -> Iterator[RecordBatch]:
        """Batches of a query, the first without rows: it names the columns."""
        try:
            planned = self._parts.plan(asking) if asking.only else self._plan(asking)
            # Read through Arrow's C interface: pyarrow lets go of the interpreter, arro3 does not.
            reader = pa.RecordBatchReader.from_stream(planned)
            yield RecordBatch.from_arrow(pa.RecordBatch.from_pylist([], schema=reader.schema))
            yield from map(RecordBatch.from_arrow, reader)
        except SnapshotGone:
            raise
        except Exception as error:  # DataFusion's errors come as bare Exception
            raise _explain(error) from error

    def _plan(self, asking: Asking) -> Any:
        engine = reading.start_engine(_SETTINGS)
        for name, state in asking.tables.items():
            self._add_table(engine, name, state)
        if self._memory_bytes is not None:
            reading.bound_memory(engine, self._memory_bytes)
        return engine.execute(reading.inline_views(asking.tables, asking.sql))

    def _add_table(
        self, engine: QueryBuilder, name: str, state: State, condition: str | None = None
    ) -> None:
        with self._lock:
            table = self._rings[name].find(state).table
            reading.add_table(engine, name, [table], condition)

    def ask(self, asking: Asking, cancellation: Cancellation) -> list[Row]:
        """Rows."""
        return [row for batch in self.run(asking) for row in read_rows(batch)]

    def list_files(self, name: str, state: State) -> dict[str, list[Any]]:
        """What Delta's log says of a table's files, by column."""
        with self._lock:
            actions: Any = self._rings[name].find(state).table.get_add_actions(flatten=True)
        return {
            column: actions.column(column).to_pylist()
            for column in actions.schema.names
            if column in _FILE_COLUMNS
        }


def read_rows(batch: RecordBatch) -> Iterator[Row]:
    """The rows of a batch as dicts."""
    names = batch.schema.names
    columns = [read_column(column, column.type) for column in batch.columns]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _explain(error: Exception) -> Exception:
    if _GONE in str(error).lower():
        return SnapshotGone(str(error))
    return QueryError(f"the query failed: {error}")


def _is_ahead(opened: Opened, watermark: _Watermark) -> bool:
    """Whether it holds events that znode_events does not hold yet: its batch is under way."""
    if watermark.log_id is None:
        return False
    return (opened.table.transaction_version(watermark.log_id) or -1) > watermark.seq


def _find_watermark(events: DeltaTable) -> _Watermark:
    """By the statistics in Delta's log; the marker counts heartbeats that no row is kept of."""
    files = pa.table(events.get_add_actions(flatten=True))
    names = ("max.log_id", "max.seq", "min.observed_at_ms", "max.observed_at_ms")
    if not files.num_rows or any(name not in files.column_names for name in names):
        return _Watermark()
    last = pc.max(files["max.seq"])
    if not last.is_valid:
        return _Watermark()
    log_id = files["max.log_id"][pc.index(files["max.seq"], last).as_py()].as_py()
    marked = -1 if log_id is None else events.transaction_version(log_id) or -1
    return _Watermark(
        log_id,
        max(last.as_py(), marked),
        pc.min(files["min.observed_at_ms"]).as_py(),
        pc.max(files["max.observed_at_ms"]).as_py(),
    )
