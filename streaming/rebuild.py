"""`zklake rebuild`: interval tables made anew from znode_events, in one commit each.

The same fold as the stream's, over the whole log in one turn. Records that an older zklake had to
set aside, because their version was newer than it could read, take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from delta_tables import reading
from delta_tables.catalog import INTERVAL_TABLES, TABLE_BY_NAME
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import EVENT_COLUMNS, ZNODE_EVENTS
from streaming.horizon import make_rows
from streaming.lake import Lake
from streaming.parse import parse_records
from streaming.progress import read_progress
from streaming.summary import IS_FOLLOWED, summarise
from streaming.table_writer import Mark
from streaming.turn import Memory, prepare
from zklake.errors import LakeError

_PLACE = ("kafka_topic", "kafka_partition", "kafka_offset")


def rebuild(
    lake: Lake, names: Sequence[str], topic: str, say: Callable[[str], None]
) -> dict[str, int]:
    """Make these tables anew, up to the watermark; returns the number of rows of each."""
    progress = read_progress(lake.path, lake.cluster, topic)
    if progress.log_id is None:
        raise LakeError(
            f"the lake {lake.path}/{lake.cluster} holds no events yet: nothing to rebuild from"
        )
    _refuse_ahead(lake, names, progress.log_id, progress.seq)
    events = read_events(lake).localCheckpoint()
    summary = summarise(events, INTERVAL_TABLES)
    breaks = _find_breaks(events)
    turn = prepare(Memory(), events, summary, final=True, breaks=breaks)
    counts = {}
    for name in names:
        table = TABLE_BY_NAME[name]
        say(f"rebuilding {name}")
        rows = make_rows(lake, table, turn, summary)
        counts[name] = rows.count()
        lake.replace_all(table, rows, Mark(progress.log_id, progress.seq))
    return counts


def _refuse_ahead(lake: Lake, names: Sequence[str], log_id: str, seq: int) -> None:
    """A table that a crash left ahead of znode_events would lose what only it knows."""
    for name in names:
        if reading.read_marker(lake.path, lake.cluster, name, log_id) > seq:
            raise LakeError(
                f"{name} is ahead of znode_events in {lake.path}/{lake.cluster}: a stream was cut "
                "off. Let `zklake stream --once` finish its batch, then rebuild"
            )


def read_events(lake: Lake) -> DataFrame:
    """The events that the lake holds, as a batch of the stream would have them."""
    kept = lake.read(ZNODE_EVENTS).withColumn("reason", F.lit(None).cast("string"))
    kept = kept.withColumn("is_newer", F.lit(False))
    columns = [*(c.name for c in EVENT_COLUMNS), *_PLACE, "reason", "is_newer"]
    healed = parse_records(_read_set_aside(lake), lake.cluster).where("reason IS NULL")
    events = kept.select(*columns).unionByName(healed.select(*columns))
    return events.withColumns({"is_hole": F.lit(False), "is_repeat": F.lit(False)})


def _read_set_aside(lake: Lake) -> DataFrame:
    """Records in quarantine that only their version kept out, as rows of Spark's Kafka source."""
    return (
        lake.read(QUARANTINE)
        .where("reason LIKE 'event version %'")
        .dropDuplicates(list(_PLACE))
        .selectExpr(
            "record AS value",
            "kafka_topic AS topic",
            "kafka_partition AS partition",
            "kafka_offset AS offset",
            "kafka_at AS timestamp",
        )
    )


def _find_breaks(events: DataFrame) -> dict[str, set[int]]:
    """The followed events right before which one stands that is not followed, by cluster."""
    window = Window.partitionBy("cluster").orderBy("seq")
    others = events.where("op NOT IN ('heartbeat', 'seq_hole', 'seq_repeat')")
    marked = others.withColumn("_followed", F.expr(IS_FOLLOWED))
    before = F.lag("_followed", 1, True).over(window)
    broken = marked.withColumn("_before", before).where(
        "op = 'delete' AND _followed AND NOT _before"
    )
    breaks: dict[str, set[int]] = {}
    for row in broken.select("cluster", "seq").toLocalIterator():
        breaks.setdefault(row["cluster"], set()).add(row["seq"])
    return breaks


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The tables to rebuild; none given means all that can be."""
    possible = tuple(t.name for t in TABLE_BY_NAME.values() if t.is_interval)
    for name in names:
        if name not in possible:
            raise LakeError(
                f"{name!r} cannot be rebuilt: it is no interval table. These can: "
                f"{', '.join(possible)}"
            )
    return tuple(names) or possible
