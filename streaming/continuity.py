"""Holes and repeats in the log's seq: judged once, when records are read, and written as events.

The watcher writes seq without hole or repeat, in transactions; they are not trusted blindly. A
record whose seq stood at an earlier offset goes to quarantine. Both are told by events of the
stream's own: `seq_hole` takes the last missing seq, `seq_repeat` that of the next good record, so
the guards of the tables hold for them too. A rebuild reads these events and never judges anew.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from delta_tables.tables.znode_events import EVENT_COLUMNS
from streaming.relation import query

REPEATED = "seq_repeat"

_FIELDS = ", ".join(column.name for column in EVENT_COLUMNS)

_LOG = ("kafka_topic", "kafka_partition")
# A record of a newer version cannot be folded, but it has its place in the log.
_IS_COUNTED = "(reason IS NULL OR is_newer)"
_IS_HOLE = f"coalesce({_IS_COUNTED} AND seq_before >= 0 AND seq > seq_before + 1, false)"
_IS_REPEAT = f"coalesce({_IS_COUNTED} AND seq_before >= 0 AND seq <= seq_before, false)"
# SQL of the columns that judging fills, as they are where nothing is broken.
UNBROKEN = {
    "seq_before": "CAST(NULL AS BIGINT)",
    "at_before_ms": "CAST(NULL AS BIGINT)",
    "is_hole": "false",
    "is_repeat": "false",
}
# Of the record beside which an event of ours stands, it has none of this.
_NOTHING = (
    *("kind", "zxid", "zxid_min", "zxid_max", "data", "data_b64", "data_zlib_b64", "data_hash"),
    *("stat", "origin", "missed", "frame", "record", "reason"),
)


def judge_seq(
    events: DataFrame, read_seq: int, read_at_ms: int | None, read_offset: int
) -> DataFrame:
    """Of the events behind an offset: mark those before which some are missing, and set aside
    those that come again. The others were judged before."""
    news = query(_judge_sql("news", read_seq, read_at_ms), news=_behind(events, read_offset))
    return events.where(f"kafka_offset <= {read_offset}").unionByName(news)


def count_breaks_sql(events: str, read_seq: int, read_offset: int) -> str:
    """SQL: how many events behind an offset are not the next ones by their seq."""
    # Of few columns: sorting whole events takes longer than to fold them.
    narrow = f"SELECT {', '.join(_LOG)}, kafka_offset, seq, observed_at_ms, reason, is_newer"
    placed = _place_sql(f"{narrow} FROM {events} WHERE kafka_offset > {read_offset}", read_seq)
    return f"SELECT count_if({_IS_HOLE} OR {_IS_REPEAT}) FROM ({placed})"


def _behind(events: DataFrame, read_offset: int) -> DataFrame:
    return events.where(f"kafka_offset > {read_offset}").drop(*UNBROKEN)


def _judge_sql(events: str, read_seq: int, read_at_ms: int | None) -> str:
    return f"""
SELECT * EXCEPT (record, reason),
  -- The bytes of a good record were let go when it was read; it is told by its fields instead.
  IF(is_repeat, coalesce(record, CAST(to_json(struct({_FIELDS})) AS BINARY)), record) AS record,
  IF(is_repeat, concat('seq ', seq, ' stands at an earlier offset already'), reason) AS reason
FROM (
  SELECT *, {_IS_HOLE} AS is_hole, {_IS_REPEAT} AS is_repeat
  FROM ({_place_sql(f"SELECT * FROM {events}", read_seq, read_at_ms)}))"""


def _place_sql(events: str, read_seq: int, read_at_ms: int | None = None) -> str:
    before = (
        f"OVER (PARTITION BY {', '.join(_LOG)} ORDER BY kafka_offset "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    at_ms = "NULL" if read_at_ms is None else str(read_at_ms)
    return f"""
    SELECT *,
      greatest(CAST({read_seq} AS BIGINT), max(IF({_IS_COUNTED}, seq, NULL)) {before})
        AS seq_before,
      coalesce(max(IF({_IS_COUNTED}, observed_at_ms, NULL)) {before}, CAST({at_ms} AS BIGINT))
        AS at_before_ms
    FROM ({events})"""


def add_breaks(events: DataFrame) -> DataFrame:
    """Add an event for each hole, and for each repeat that a good record follows."""
    after = (
        Window.partitionBy(*_LOG).orderBy("kafka_offset").rowsBetween(1, Window.unboundedFollowing)
    )
    next_seq = F.first(F.expr("IF(reason IS NULL, seq, NULL)"), ignorenulls=True).over(after)
    placed = events.withColumn("_next_seq", next_seq)
    holes = _tell(placed.where("is_hole"), "seq_hole", "seq - 1", "at_before_ms").withColumn(
        "missed", F.expr("CAST(seq - seq_before AS INT)")
    )
    repeats = _tell(
        placed.where("is_repeat AND _next_seq IS NOT NULL"), REPEATED, "_next_seq", "NULL"
    )
    # What has been told is no longer marked: it must not be told again with the next batch.
    told = placed.withColumn("is_hole", F.lit(False)).withColumn(
        "is_repeat", F.expr("is_repeat AND _next_seq IS NULL")
    )
    return told.unionByName(holes).unionByName(repeats).drop("_next_seq")


def _tell(rows: DataFrame, op: str, seq: str, from_ms: str) -> DataFrame:
    types = dict(rows.dtypes)
    gap = (
        f"named_struct('id', concat('{op}-', kafka_offset), 'reason', '{op}', "
        f"'from_ms', CAST({from_ms} AS BIGINT))"
    )
    return rows.withColumns(
        {
            **{name: F.lit(None).cast(types[name]) for name in _NOTHING},
            "gap": F.from_json(F.to_json(F.expr(gap)), types["gap"]),
            "op": F.lit(op),
            "seq": F.expr(seq),
            "path": F.lit("/"),
            "fidelity": F.lit("exact"),
            "is_hole": F.lit(False),
            "is_repeat": F.lit(False),
        }
    )
