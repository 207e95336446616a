"""Columns added to events: what held at their seq, and data that SQL does not read itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from delta_tables.table import Table
from streaming.decoding import rewrite
from streaming.relation import make_relation
from streaming.steps.row import Row
from streaming.summary import DATA_FIELDS, is_odd
from zklake.events.envelope import Event

_REWRITTEN = "cluster STRING, seq BIGINT, rewritten STRING, rewrite_error STRING"
_ODD_FIELDS = ("cluster", "log_id", "seq", "op", "observed_at_ms", "kind")


class Range(NamedTuple):
    """What held for a cluster from one seq to another (None: since then). They never overlap."""

    cluster: str
    first_seq: int
    last_seq: int | None
    value: Any


def annotate(
    events: DataFrame, name: str, type_: str, ranges: Sequence[Range], otherwise: str = "NULL"
) -> DataFrame:
    """Add a column with the value of the range in which each event lies."""
    if not ranges:
        return events.withColumn(name, F.expr(f"CAST({otherwise} AS {type_})"))
    schema = f"_cluster STRING, _first BIGINT, _last BIGINT, _value {type_}"
    rows = [
        {"_cluster": r.cluster, "_first": r.first_seq, "_last": r.last_seq, "_value": r.value}
        for r in ranges
    ]
    held = F.broadcast(make_relation(events.sparkSession, schema, rows))
    place = F.expr("cluster = _cluster AND seq >= _first AND (_last IS NULL OR seq <= _last)")
    joined = events.join(held, place, "left")
    value = F.expr(f"coalesce(_value, CAST({otherwise} AS {type_}))")
    return joined.withColumn(name, value).drop("_cluster", "_first", "_last", "_value")


def annotate_inputs(table: Table, events: DataFrame, step_rows: dict[str, list[Row]]) -> DataFrame:
    """Add the columns that the table reads of others, as of each event's seq."""
    for wanted in table.as_of:
        ranges = [
            Range(
                row["cluster"],
                row["valid_from_seq"],
                None if row["valid_to_seq"] is None else row["valid_to_seq"] - 1,
                row[wanted.column],
            )
            for row in step_rows[wanted.table]
            if row[wanted.column] is not None and row["valid_to_seq"] != row["valid_from_seq"]
        ]
        events = annotate(events, wanted.name, wanted.type, ranges)
    return events


def rewrite_odd(table: Table, events: DataFrame, count: int) -> DataFrame:
    """Add `rewritten` and `rewrite_error`: what the contract's decoders make of odd values."""
    if not count:
        return events.withColumns(
            {name: F.lit(None).cast("string") for name in ("rewritten", "rewrite_error")}
        )
    odd = events.where(is_odd(table)).select(*_ODD_FIELDS, *DATA_FIELDS)
    rows = []
    # Piece by piece: hostile values may be many and large, and few of them can be read.
    for row in odd.toLocalIterator():
        text, error = rewrite(Event(**row.asDict()))
        place = {"cluster": row["cluster"], "seq": row["seq"]}
        rows.append({**place, "rewritten": text, "rewrite_error": error})
    relation = make_relation(events.sparkSession, _REWRITTEN, rows).dropDuplicates(
        ["cluster", "seq"]
    )
    return events.join(F.broadcast(relation), ["cluster", "seq"], "left")
