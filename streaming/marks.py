"""What happens to a key of an interval table, as marks on its line, ordered by seq.

A mark is a point at which a key's state begins, ends, or is merely seen:
  open            the row that stood open before this batch
  create set read a state begins (a read of the state that already stands is only seen)
  touch           a write whose value nobody could read, or a znode that the watcher may not read:
                  alive, but no state of its own
  delete resync   the state ends
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from delta_tables.table import Table, millis
from streaming.frames import Closure
from streaming.relation import make_relation

_OPS = ("create", "set", "read", "delete", "unreadable")

_OP = "IF(op IN ('set', 'read') AND fidelity = 'superseded' OR op = 'unreadable', 'touch', op)"
_ZXID = """CASE op
    WHEN 'delete' THEN zxid
    WHEN 'create' THEN coalesce(stat.czxid, zxid)
    ELSE coalesce(stat.mzxid, zxid) END"""
_AT_MS = """coalesce(
    CASE op WHEN 'delete' THEN NULL WHEN 'create' THEN stat.ctime ELSE stat.mtime END,
    observed_at_ms)"""
_AT = millis(_AT_MS)
# A gap hid when it came to this.
_END_MIN = millis("IF(op = 'delete' AND origin = 'resync', gap_from_ms, NULL)")
_CLOSURE = "cluster STRING, begin_seq BIGINT, end_seq BIGINT, at_ms BIGINT, gap_from_ms BIGINT"


def touches(table: Table) -> str:
    """SQL: whether an event is one of the table's."""
    return f"(op IN {_OPS} AND {table.source})"


def open_marks(table: Table, rows: DataFrame) -> DataFrame:
    """The rows that stand open, each where its state began."""
    return rows.select(
        *(column.name for column in table.made),
        F.lit("open").alias("_op"),
        F.col("valid_from_seq").alias("_seq"),
        F.col("valid_from_zxid").alias("_zxid"),
        F.col("valid_from_at").alias("_at"),
        F.col("czxid").alias("_czxid"),
        F.col("znode_version").alias("_version"),
        F.lit(False).alias("_is_birth"),
        F.col("fidelity").alias("_fidelity"),
        F.col("is_known").alias("_is_known"),
        F.col("decode_error").alias("_decode_error"),
        F.col("seen_seq").alias("_seen"),
        F.col("unseen_versions").alias("_unseen"),
        F.lit(None).cast("bigint").alias("_begin"),
        F.lit(None).cast("string").alias("_end"),
        F.lit(None).cast("timestamp").alias("_end_min"),
    )


def event_marks(table: Table, events: DataFrame) -> DataFrame:
    """The table's events (annotated: see turn.py)."""
    decoded = _decode(table, events.where(touches(table)))
    marks = decoded.select(
        *(F.expr(c.sql or "NULL").cast(c.type).alias(c.name) for c in table.made),
        F.expr(_OP).alias("_op"),
        F.col("seq").alias("_seq"),
        F.expr(_ZXID).alias("_zxid"),
        F.expr(_AT).alias("_at"),
        F.col("stat.czxid").alias("_czxid"),
        F.expr("coalesce(stat.version, IF(op = 'create', 0, NULL))").alias("_version"),
        # A set in the very transaction that created the znode.
        F.expr("op = 'set' AND coalesce(stat.mzxid = stat.czxid, false)").alias("_is_birth"),
        F.col("fidelity").alias("_fidelity"),
        F.col("is_known").alias("_is_known"),
        F.col("decode_error").alias("_decode_error"),
        F.col("seq").alias("_seen"),
        F.lit(None).cast("bigint").alias("_unseen"),
        F.lit(None).cast("bigint").alias("_begin"),
        F.expr(f"IF(op = 'delete', {table.delete_sql}, NULL)").alias("_end"),
        F.expr(_END_MIN).alias("_end_min"),
    )
    # A name that is no key (a broker id past 32 bits) makes no row; znode_events still tells it.
    return marks.dropna(subset=list(table.required_key))


def _decode(table: Table, events: DataFrame) -> DataFrame:
    assert table.payload is not None
    read = events.withColumn("payload", F.expr(table.payload.read_sql))
    judged = read.withColumn("decode_error", F.expr(table.payload.error_sql))
    return judged.withColumns(
        {
            "payload": F.expr("IF(decode_error IS NULL, payload, NULL)"),
            "is_known": F.expr(
                "coalesce(decode_error IS NULL AND (data <> '' OR data_b64 IS NOT NULL "
                "OR data_zlib_b64 IS NOT NULL) AND coalesce(rewritten, 'plain') <> '', false)"
            ),
        }
    )


def add_closures(table: Table, marks: DataFrame, closures: tuple[Closure, ...]) -> DataFrame:
    """Put the end of every such frame on every key's line; most turn out to mean nothing."""
    if not closures:
        return marks
    rows = [
        {
            "cluster": c.cluster,
            "begin_seq": c.begin_seq,
            "end_seq": c.end_seq,
            "at_ms": c.observed_at_ms,
            "gap_from_ms": c.gap_from_ms,
        }
        for c in closures
    ]
    ends = make_relation(marks.sparkSession, _CLOSURE, rows).selectExpr(
        "cluster",
        "begin_seq AS _begin",
        "end_seq AS _seq",
        f"{millis('at_ms')} AS _at",
        f"{millis('gap_from_ms')} AS _end_min",
        "'resync' AS _op",
        "'resync' AS _end",
    )
    keys = marks.select(*table.key).distinct()
    return marks.unionByName(keys.join(F.broadcast(ends), "cluster"), allowMissingColumns=True)
