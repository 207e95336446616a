"""The interval engine: a table's events and its open rows -> its rows, open and newly closed.

One engine for every interval table; what a table is stands in delta_tables. The result depends only
on the order of events by seq: not on how they were cut into batches, nor on any clock.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from delta_tables.table import Table
from streaming.frames import Closure
from streaming.marks import add_closures, event_marks, open_marks


def fold(
    table: Table, open_rows: DataFrame, events: DataFrame, closures: Iterable[Closure] = ()
) -> DataFrame:
    """The table's open rows after these (annotated) events, and the rows that they closed."""
    marks = open_marks(table, open_rows).unionByName(event_marks(table, events))
    marks = add_closures(table, marks, tuple(closures))
    window = Window.partitionBy(*table.key).orderBy("_seq")
    return _rows(table, _join_neighbours(_drop_echoes(table, marks, window), window))


def _drop_echoes(table: Table, marks: DataFrame, window: WindowSpec) -> DataFrame:
    """Leave the marks at which something begins or ends; what was only seen moves `_seen`."""
    before = window.rowsBetween(Window.unboundedPreceding, -1)
    seen_before = F.max(F.when(F.col("_op") != "resync", F.col("_seen"))).over(before)
    real = marks.withColumns(
        {"_seen_before": seen_before, "_is_repeat": F.lag("_seq").over(window) == F.col("_seq")}
    ).where(
        "NOT coalesce(_is_repeat, false) "
        "AND (_op <> 'resync' OR coalesce(_seen_before < _begin, false))"
    )
    former = F.when(F.col("_op") != "touch", F.struct("_op", "_czxid", "_version", "_fidelity"))
    told = real.withColumn("_former", F.last(former, ignorenulls=True).over(before)).withColumn(
        "_is_echo",
        F.expr(
            "_op = 'touch' OR coalesce(_op = 'read' AND _former._op NOT IN ('delete', 'resync') "
            "AND _former._czxid = _czxid AND _former._version = _version "
            "AND _former._fidelity = _fidelity, false)"
        ),
    )
    run = F.sum(F.when(F.col("_is_echo"), 0).otherwise(1)).over(window)
    in_run = Window.partitionBy(*table.key, "_run")
    return (
        told.withColumn("_run", run)
        .withColumn("_seen", F.max("_seen").over(in_run))
        .where("NOT _is_echo")
    )


def _join_neighbours(marks: DataFrame, window: WindowSpec) -> DataFrame:
    follower = F.struct(
        "_op", "_seq", "_zxid", "_at", "_czxid", "_decode_error", "_is_birth", "_end", "_end_min"
    )
    return (
        marks.withColumn("_next", F.lead(follower).over(window))
        .where("_op NOT IN ('delete', 'resync')")
        # Kafka 2.2+ registers with one multi, create(null) + set: one life, not two states. The
        # null state is passed over here, after lead(), so that its predecessor ends the same
        # whether or not both came in one batch.
        .where(
            "NOT (NOT _is_known AND _decode_error IS NULL AND coalesce(_next._op = 'set', false) "
            "AND coalesce(_next._czxid = _czxid, true) "
            "AND (coalesce(_next._zxid = _zxid, false) OR _next._is_birth))"
        )
    )


_ENDED_BY = """CASE
    WHEN _next IS NULL THEN NULL
    WHEN _next._op IN ('delete', 'resync') THEN _next._end
    WHEN _next._op = 'create' OR _next._czxid <> _czxid THEN 'recreated'
    WHEN _next._decode_error IS NOT NULL THEN 'unreadable'
    ELSE 'changed' END"""

# Unknown czxid: a create whose stat nobody could read; what follows it is the same life.
_UNSEEN = """CASE
    WHEN _op = 'open' THEN _unseen
    WHEN _op = 'create' OR _former IS NULL OR _former._op IN ('delete', 'resync') THEN 0
    WHEN coalesce(_former._czxid, _czxid) = _czxid
        THEN greatest(0, coalesce(CAST(_version AS BIGINT) - _former._version - 1, 0))
    ELSE 0 END"""

_TO_AT = "IF(_next._at < _at, _at, _next._at)"

_INTERVAL_SQL = {
    "czxid": "_czxid",
    "znode_version": "_version",
    "fidelity": "_fidelity",
    "is_known": "_is_known",
    "decode_error": "_decode_error",
    "unseen_versions": _UNSEEN,
    "seen_seq": "_seen",
    "valid_from_seq": "_seq",
    "valid_from_zxid": "_zxid",
    "valid_from_at": "_at",
    "valid_to_seq": "_next._seq",
    "valid_to_zxid": "_next._zxid",
    "valid_to_at": _TO_AT,
    "valid_to_at_min": "_next._end_min",
    "is_clamped": "coalesce(_next._at < _at, false)",
    "ended_by": _ENDED_BY,
    "is_open": "_next IS NULL",
    "closed_on": f"CAST({_TO_AT} AS DATE)",
}


def _rows(table: Table, marks: DataFrame) -> DataFrame:
    def column(name: str, type_: str) -> Column:
        sql = _INTERVAL_SQL.get(name)
        return F.col(name) if sql is None else F.expr(sql).cast(type_).alias(name)

    return marks.select(*(column(c.name, c.type) for c in table.columns))
