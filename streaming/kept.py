"""The events that the lake keeps, as a batch of the stream would have them.

For a rebuild, and for what the driver must follow again after a start.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import EVENT_COLUMNS, ZNODE_EVENTS
from streaming.lake import Lake
from streaming.parse import parse_records
from streaming.sessions import PASSING
from streaming.summary import IS_FOLLOWED

_PLACE = ("kafka_topic", "kafka_partition", "kafka_offset")
_COLUMNS = (*(column.name for column in EVENT_COLUMNS), *_PLACE, "reason", "is_newer")


def read_all(lake: Lake) -> DataFrame:
    """All of them; records that only their version kept out take their place again."""
    healed = parse_records(_read_set_aside(lake), lake.cluster).where("reason IS NULL")
    kept = _judge(lake.read(ZNODE_EVENTS))
    return kept.unionByName(_judge(healed.select(*_COLUMNS)))


def read_after(lake: Lake, after_seq: int, last_seq: int) -> DataFrame:
    """Those of a stretch of the log."""
    return _judge(lake.read(ZNODE_EVENTS).where(f"seq > {after_seq} AND seq <= {last_seq}"))


def _judge(events: DataFrame) -> DataFrame:
    """They were judged when they were read."""
    return (
        events.withColumns({"reason": F.lit(None).cast("string"), "is_newer": F.lit(False)})
        .select(*_COLUMNS)
        .withColumns({"is_hole": F.lit(False), "is_repeat": F.lit(False)})
    )


def _read_set_aside(lake: Lake) -> DataFrame:
    """Records in quarantine that only their version kept out, as rows of Spark's Kafka source."""
    return (
        lake.read(QUARANTINE)
        .where("reason LIKE 'event version %'")
        # The bytes too: a re-created topic has other records at the same places.
        .dropDuplicates([*_PLACE, "record"])
        .selectExpr(
            "record AS value",
            "kafka_topic AS topic",
            "kafka_partition AS partition",
            "kafka_offset AS offset",
            "kafka_at AS timestamp",
        )
    )


def find_breaks(events: DataFrame) -> dict[str, set[int]]:
    """The followed events right before which one stands that is not followed, by cluster."""
    window = Window.partitionBy("cluster").orderBy("seq")
    others = events.where(f"op NOT IN {(*PASSING, 'seq_hole', 'seq_repeat')}")
    marked = others.withColumn("_followed", F.expr(IS_FOLLOWED))
    before = F.lag("_followed", 1, True).over(window)
    broken = marked.withColumn("_before", before).where(
        "op = 'delete' AND _followed AND NOT _before"
    )
    breaks: dict[str, set[int]] = {}
    for row in broken.select("cluster", "seq").toLocalIterator():
        breaks.setdefault(row["cluster"], set()).add(row["seq"])
    return breaks
