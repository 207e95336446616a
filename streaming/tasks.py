"""What is large is folded in Spark tasks: on all cores of this machine, or of a cluster.

A batch of the log, or a stretch of znode_events in a rebuild. Records are divided by the path that
they name, so each znode's events meet in one task, which runs the same fold over them as the driver
would; what speaks of the tree as a whole (a gap, a frame) goes to every task. Tasks hand over
finished files and the rows that are open now; they write to no lake, so a task that dies and runs
again leaves nothing behind. The driver folds what looks at several znodes, stores the files and
commits.

A batch with a record that is none, or with a hole in seq, is refused here, and the driver folds it
by itself: no row shows which of the two it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import msgspec
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.division import Left, Outcome, Work, pack
from streaming.fold.group_folds import ZNODE_OPS
from streaming.fold.part import (
    PART_KINDS,
    WHOLE_OPS,
    Part,
    PartStart,
    is_divisible,
)
from streaming.lake.events import TREE_COLUMNS, make_event_rows, sort_rows
from streaming.lake.new_files import make_ended_files, make_files
from streaming.log.continuity import Entry
from streaming.log.records import Rejected, judge_record
from streaming.memory import pause_collector
from zklake.events.envelope import Event, decode

# Of fewer records, starting tasks takes longer than folding them.
LARGE = 50_000
_PATH = '"path":"'
Known = TypeVar("Known")


def fold_in_tasks(spark: SparkSession, batch: DataFrame, work: Work) -> list[Outcome]:
    """What each task makes of its part of a batch."""
    value = sf.col("value").cast("string")
    path = sf.regexp_extract(value, f'{_PATH}([^"]*)"', 1)
    is_whole = value.rlike(f'"op":"({"|".join(WHOLE_OPS)})"')
    divided = _divide(spark, batch.select("offset", "value"), path, is_whole)
    return _run(divided, fold_part, work)


def fold_events_in_tasks(spark: SparkSession, events: DataFrame, start: PartStart) -> list[Outcome]:
    """What each task makes of its part of some rows of znode_events."""
    op = sf.col("op")
    is_whole = op.isin(*WHOLE_OPS)
    is_theirs = op.isin(*ZNODE_OPS) & sf.col("kind").isin(*PART_KINDS)
    # As they travel: the contract's decoder reads them.
    value = sf.to_json(sf.struct(*TREE_COLUMNS)).alias("value")
    chosen = events.where(is_whole | is_theirs).select("seq", "kafka_offset", "path", "op", value)
    divided = _divide(spark, chosen, sf.col("path"), is_whole)
    return _run(divided.drop("path", "op"), fold_event_rows, start)


def _divide(spark: SparkSession, records: DataFrame, path: Column, is_whole: Column) -> DataFrame:
    """Records by path. Of what goes to every task, `copy` is the copy's number; else it is -1."""
    count = 2 * spark.sparkContext.defaultParallelism
    copies = [_make_way(sf.lit(name), copy) for copy, name in enumerate(_find_names(spark, count))]
    ways = sf.when(is_whole, sf.array(*copies)).otherwise(sf.array(_make_way(path, -1)))
    return records.select("*", sf.inline(ways)).repartition(count, "way").drop("way")


def _make_way(name: Column, copy: int) -> Column:
    return sf.struct(name.alias("way"), sf.lit(copy).alias("copy"))


def _find_names(spark: SparkSession, count: int) -> list[str]:
    """One name for each of so many tasks, which Spark's own hash sends there."""
    tasks = f"transform(sequence(0, {64 * count}), n -> pmod(hash(string(n)), {count}))"
    row = spark.sql(f"SELECT {tasks}").first()
    assert row is not None
    return [str(row[0].index(task)) for task in range(count)]


def _run(
    divided: DataFrame, fold: Callable[[Known, list[pa.RecordBatch]], Outcome], known: Known
) -> list[Outcome]:
    """What each task makes of its part, with what all of them know."""
    spark = divided.sparkSession
    shared = spark.sparkContext.broadcast(known)
    try:
        # DataFrame.mapInArrow itself does the same, but wants pandas installed, which nothing uses.
        function = UserDefinedFunction(
            partial(_run_task, fold, shared),
            "outcome binary",
            evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF,
        )
        column = function(*(divided[name] for name in divided.columns))
        made = DataFrame(divided._jdf.mapInArrow(column._jc, False, None), spark)
        found = made.toArrow()["outcome"].to_pylist()
    finally:
        shared.destroy()
    return [msgspec.msgpack.decode(each, type=Outcome) for each in found]


def _run_task(
    fold: Callable[[Known, list[pa.RecordBatch]], Outcome],
    known: Broadcast[Known],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    # Before: reading a broadcast value switches the collector on.
    value = known.value
    with pause_collector():
        try:
            outcome = fold(value, [*batches])
        except Exception as error:  # the driver meets it again, and finds out which event it was
            outcome = Outcome(refusal=f"{type(error).__name__}: {error}")
    packed = msgspec.msgpack.encode(outcome)
    yield pa.RecordBatch.from_pydict({"outcome": pa.array([packed], pa.binary())})


def fold_event_rows(start: PartStart, batches: list[pa.RecordBatch]) -> Outcome:
    """What a task makes of events; each batch has their `seq`, `kafka_offset` and `value`."""
    if not batches:
        return Outcome()
    part = Part(start)
    for value in sort_rows(pa.Table.from_batches(batches))["value"].to_pylist():
        part.apply(decode(value))
    return _finish(part)


def _finish(part: Part) -> Outcome:
    changed = part.finish()  # frames may have ended some more
    files = {name: make_ended_files(fold) for name, fold in part.folds.items() if fold.ended}
    return Outcome(changed=changed, files=files)  # type: ignore[arg-type]  # keys travel as lists


def fold_part(work: Work, batches: list[pa.RecordBatch]) -> Outcome:
    """What a task makes of its records; each batch has their `offset`, `value` and `copy`."""
    if not batches:
        return Outcome()
    records = pa.Table.from_batches(batches).sort_by("offset")
    task = _Task(work)
    columns = (records[name].to_pylist() for name in ("offset", "value", "copy"))
    for record in zip(*columns, strict=True):
        if refusal := task.take(*record):
            return Outcome(refusal=refusal)
    return task.finish()


class _Task:
    """A part in the making."""

    def __init__(self, work: Work) -> None:
        self._work, self._part = work, Part(work.start)
        self._log_id = work.log_id
        self._offsets: list[int] = []
        self._seqs: list[int] = []
        self._times: list[int] = []
        self._entries: list[Entry] = []
        self._left: list[Left] = []

    def take(self, offset: int, value: bytes | None, copy: int) -> str | None:
        """Take one record, or say why not."""
        event = judge_record(value, self._work.start.cluster, self._log_id)
        if isinstance(event, Rejected) or value is None:
            return "it holds a record that is no event of this log"
        if (event.op in WHOLE_OPS) != (copy >= 0):
            return "it holds an op that is written in an unusual way"
        self._log_id = event.log_id
        if event.op in WHOLE_OPS:
            self._part.apply(event)
        if copy > 0:
            return None  # another task's
        self._offsets.append(offset)
        self._seqs.append(event.seq)
        self._times.append(event.observed_at_ms)
        if not is_divisible(event):
            self._left.append(Left(offset, value, False))
            return None
        if not _names_path(value, event):
            return "it holds a path that is written in an unusual way"
        is_followed = self._part.apply(event)
        self._entries.append(Entry(event, offset))
        if is_followed:
            self._left.append(Left(offset, value, True))
        return None

    def finish(self) -> Outcome:
        """All that was made."""
        work, outcome = self._work, _finish(self._part)
        events = make_event_rows(self._entries, work.topic, work.ingested_at)
        outcome.files[ZNODE_EVENTS.name] = make_files(ZNODE_EVENTS, events)
        outcome.log_id, outcome.left = self._log_id, self._left
        outcome.offsets, outcome.seqs = pack(self._offsets), pack(self._seqs)
        outcome.times = pack(self._times)
        return outcome


def _names_path(value: bytes, event: Event) -> bool:
    """Whether the record was divided by the path that it names."""
    place = value.find(_PATH.encode()) + len(_PATH)
    return value.startswith(f'{event.path}"'.encode(), place)
