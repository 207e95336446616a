"""A batch that is large is folded in Spark tasks: on all cores of this machine, or of a cluster.

Records are divided by the path that they name, so each znode's events meet in one task, which runs
the same fold over them as the driver would. Tasks hand over finished files and the rows that are
open now; they touch no lake, so a task that dies and runs again leaves nothing behind. The driver
folds what looks at several znodes, stores the files and commits.

A batch in which anything is out of the ordinary (a record that is none, a hole, a gap, a frame) is
refused here, and the driver folds it by itself: no row shows which of the two it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.division import Left, Outcome, Work, pack
from streaming.fold.part import WHOLE_OPS, Part, is_divisible, is_followed
from streaming.lake.events import make_event_rows
from streaming.lake.new_files import make_ended_files, make_files
from streaming.log.continuity import Entry
from streaming.log.records import Rejected, judge_record
from streaming.memory import pause_collector
from zklake.events.envelope import Event

# Of fewer records, starting tasks takes longer than folding them.
LARGE = 50_000
_PATH = '"path":"'


def fold_in_tasks(spark: SparkSession, batch: DataFrame, work: Work) -> list[Outcome]:
    """What each task makes of its part."""
    context = spark.sparkContext
    shared = context.broadcast(work)
    try:
        path = sf.regexp_extract(sf.col("value").cast("string"), f'{_PATH}([^"]*)"', 1)
        records = batch.select("offset", "value").repartition(2 * context.defaultParallelism, path)
        found = _map_in_arrow(spark, records, shared).toArrow()["outcome"].to_pylist()
    finally:
        shared.destroy()
    return [msgspec.msgpack.decode(each, type=Outcome) for each in found]


def _map_in_arrow(spark: SparkSession, records: DataFrame, work: Broadcast[Work]) -> DataFrame:
    # DataFrame.mapInArrow itself does the same, but wants pandas installed, which nothing uses.
    function = UserDefinedFunction(
        partial(_run_task, work),
        "outcome binary",
        evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF,
    )
    column = function(*(records[name] for name in records.columns))
    return DataFrame(records._jdf.mapInArrow(column._jc, False, None), spark)


def _run_task(work: Broadcast[Work], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # Before: reading a broadcast value switches the collector on.
    known = work.value
    with pause_collector():
        outcome = msgspec.msgpack.encode(fold_part(known, [*batches]))
    yield pa.RecordBatch.from_pydict({"outcome": pa.array([outcome], pa.binary())})


def fold_part(work: Work, batches: list[pa.RecordBatch]) -> Outcome:
    """What a task makes of its records; each batch has their `offset` and `value`."""
    if not batches:
        return Outcome()
    records = pa.Table.from_batches(batches).sort_by("offset")
    task = _Task(work)
    try:
        for offset, value in zip(
            records["offset"].to_pylist(), records["value"].to_pylist(), strict=True
        ):
            if refusal := task.take(offset, value):
                return Outcome(refusal=refusal)
        return task.finish()
    except Exception as error:  # the driver meets it again, and finds out which event it was
        return Outcome(refusal=f"{type(error).__name__}: {error}")


class _Task:
    """A part in the making."""

    def __init__(self, work: Work) -> None:
        self._work, self._part = work, Part(work.cluster, work.rows)
        self._log_id = work.log_id
        self._offsets: list[int] = []
        self._seqs: list[int] = []
        self._times: list[int] = []
        self._entries: list[Entry] = []
        self._left: list[Left] = []

    def take(self, offset: int, value: bytes | None) -> str | None:
        """Take one record, or say why not."""
        event = judge_record(value, self._work.cluster, self._log_id)
        if isinstance(event, Rejected) or value is None:
            return "it holds a record that is no event of this log"
        if event.op in WHOLE_OPS:
            return f"it holds {event.op}"
        self._log_id = event.log_id
        self._offsets.append(offset)
        self._seqs.append(event.seq)
        self._times.append(event.observed_at_ms)
        if not is_divisible(event):
            self._left.append(Left(offset, value, False))
            return None
        if not _names_path(value, event):
            return "it holds a path that is written in an unusual way"
        self._part.apply(event)
        self._entries.append(Entry(event, offset))
        if is_followed(event):
            self._left.append(Left(offset, value, True))
        return None

    def finish(self) -> Outcome:
        """All that was made."""
        work = self._work
        events = make_event_rows(self._entries, work.topic, work.ingested_at)
        files = {ZNODE_EVENTS.name: make_files(ZNODE_EVENTS, events)}
        for name, fold in self._part.folds.items():
            if fold.ended:
                files[name] = make_ended_files(fold)
        return Outcome(
            log_id=self._log_id,
            offsets=pack(self._offsets),
            seqs=pack(self._seqs),
            times=pack(self._times),
            left=self._left,
            changed=self._part.list_changed(),  # type: ignore[arg-type]  # keys travel as lists
            files=files,
        )


def _names_path(value: bytes, event: Event) -> bool:
    """Whether the record was divided by the path that it names."""
    place = value.find(_PATH.encode()) + len(_PATH)
    return value.startswith(f'{event.path}"'.encode(), place)
