"""What happens to a key of an interval table, as marks on its line, ordered by seq.

A mark is a point at which a key's state begins, ends, or is merely seen:
  open            the row that stood open before this batch
  create set read a state begins (a read of the state that already stands is only seen)
  touch           a write whose value nobody could read: alive, but no state of its own
  delete resync   the state ends
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from delta_tables.table import Table, millis

_CORRUPT = "corrupt_record"
_OPS = ("create", "set", "read", "delete")

_OP = "IF(op IN ('set', 'read') AND fidelity = 'superseded', 'touch', op)"
_ZXID = """CASE op
    WHEN 'delete' THEN zxid
    WHEN 'create' THEN coalesce(stat.czxid, zxid)
    ELSE coalesce(stat.mzxid, zxid) END"""
_AT_MS = """coalesce(
    CASE op WHEN 'delete' THEN NULL WHEN 'create' THEN stat.ctime ELSE stat.mtime END,
    observed_at_ms)"""
_AT = millis(_AT_MS)


@dataclass(frozen=True)
class Closure:
    """A base frame that vouches for nothing older: what it did not meet is closed at its end."""

    cluster: str
    begin_seq: int
    end_seq: int
    observed_at_ms: int


def touches(table: Table) -> str:
    """SQL: whether an event is one of the table's."""
    return f"op IN {_OPS} AND {table.source}"


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
    )


def event_marks(table: Table, events: DataFrame) -> DataFrame:
    """The table's events."""
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
    )
    # A name that is no key (a broker id past 32 bits) makes no row; znode_events still tells it.
    return marks.dropna(subset=list(table.key))


def _decode(table: Table, events: DataFrame) -> DataFrame:
    schema = f"{table.payload}, {_CORRUPT} STRING"
    payload = F.from_json("data", schema, {"columnNameOfCorruptRecord": _CORRUPT})
    error = F.expr(
        f"""CASE
        WHEN coalesce(data, data_b64, data_zlib_b64) IS NULL THEN NULL
        WHEN data IS NULL THEN 'not plain text'
        WHEN payload IS NULL OR payload.{_CORRUPT} IS NOT NULL THEN 'not the JSON that belongs here'
        END"""
    )
    decoded = events.withColumn("payload", payload).withColumn("decode_error", error)
    return decoded.withColumns(
        {
            "payload": F.expr("IF(decode_error IS NULL, payload, NULL)"),
            "is_known": F.expr("data IS NOT NULL AND decode_error IS NULL"),
        }
    )


def add_closures(table: Table, marks: DataFrame, closures: tuple[Closure, ...]) -> DataFrame:
    """Put the end of every such frame on every key's line; most turn out to mean nothing."""
    if not closures:
        return marks
    frames = ", ".join(
        f"('{c.cluster}', {c.begin_seq}L, {c.end_seq}L, {c.observed_at_ms}L)" for c in closures
    )
    ends = marks.sparkSession.sql(
        f"SELECT cluster, _begin, _seq, {millis('at_ms')} AS _at, 'resync' AS _op "  # noqa: S608
        f"FROM VALUES {frames} AS frames(cluster, _begin, _seq, at_ms)"
    )
    keys = marks.select(*table.key).distinct()
    return marks.unionByName(keys.join(F.broadcast(ends), "cluster"), allowMissingColumns=True)
