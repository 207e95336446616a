"""The interval engine: a table's events and its open rows -> its rows, open and newly closed.

One engine for every interval table; what a table is stands in delta_tables. The result depends only
on the order of events by seq: not on how they were cut into batches, nor on any clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from delta_tables.samples import KAFKA
from delta_tables.table import Table
from streaming.frames import Closure
from streaming.marks import marks_sql
from streaming.relation import query


def fold(
    table: Table,
    open_rows: DataFrame,
    events: DataFrame,
    closures: Sequence[Closure] = (),
    *,
    has_samples: bool = True,
) -> DataFrame:
    """The table's open rows after these (annotated) events, and the rows that they closed."""
    # Tables are folded side by side in one session: each has views of its own.
    rows, news = f"{table.name}_rows", f"{table.name}_events"
    sql = _fold_sql(table, marks_sql(table, rows, news, closures, has_samples=has_samples))
    return query(sql, **{rows: open_rows, news: events})


def _fold_sql(table: Table, marks: str) -> str:
    # Every window has this one order, so that Spark sorts once.
    key = f"PARTITION BY {', '.join(table.key)}"
    line = f"{key} ORDER BY _seq, _rank"
    before = f"{line} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
    # Nested, not WITH: Spark resolves a text that names its parts once more for every name.
    placed = f"""SELECT *, max(_seen) OVER ({before}) AS _seen_before,
    max(_seen) OVER ({key}) AS _seen_last, lag(_seq) OVER ({line}) AS _seq_before,
    {_value_sql(table)} AS _value
  FROM ({marks})"""
    told = f"""SELECT *, last({_FORMER}, true) OVER ({before}) AS _former FROM ({placed})
  WHERE NOT coalesce(_seq_before = _seq, false)
    AND (_op <> 'resync' OR coalesce(_seen_before < _begin, false))"""
    judged = f"SELECT *, {_IS_ECHO} AS _is_echo FROM ({told})"
    joined = f"""SELECT *, lead({_FOLLOWER}) OVER ({line}) AS _next FROM ({judged})
  WHERE NOT _is_echo"""
    return f"""SELECT {_columns_sql(table)} FROM ({joined})
WHERE _op NOT IN ('delete', 'resync') AND NOT {_IS_UNFINISHED}"""


def _columns_sql(table: Table) -> str:
    return ", ".join(
        f"CAST({_INTERVAL_SQL[c.name]} AS {c.type}) AS {c.name}"
        if c.name in _INTERVAL_SQL
        else c.name
        for c in table.columns
    )


def _value_sql(table: Table) -> str:
    """SQL: all that tells one state of a sampled key from another; null for znodes."""
    if table.samples is None:
        return "CAST(NULL AS STRING)"
    state = ", ".join(table.samples.state)
    return f"IF(coordinator = '{KAFKA}', to_json(struct({state})), NULL)"


def _struct(*names: str) -> str:
    return f"struct({', '.join(names)})"


_FORMER = f"IF(_op <> 'touch', {_struct('_op', '_czxid', '_version', '_fidelity', '_value')}, NULL)"

# What was only seen moves `_seen`; it neither begins nor ends anything.
_IS_ECHO = """(_op = 'touch' OR coalesce(_former._op NOT IN ('delete', 'resync') AND (
    _op = 'read' AND _former._czxid = _czxid AND _former._version = _version
        AND _former._fidelity = _fidelity
    OR _op = 'set' AND _former._value = _value), false))"""

_FOLLOWER = _struct(
    *("_op", "_seq", "_zxid", "_at", "_czxid", "_decode_error", "_is_birth", "_end", "_end_min"),
    "_seen_before",
)

# Kafka 2.2+ registers with one multi, create(null) + set: one life, not two states. The null state
# is passed over after lead(), so that its predecessor ends the same whether or not both came in one
# batch.
_IS_UNFINISHED = """(NOT _is_known AND _decode_error IS NULL AND coalesce(_next._op = 'set', false)
    AND coalesce(_next._czxid = _czxid, true)
    AND (coalesce(_next._zxid = _zxid, false) OR _next._is_birth))"""

_ENDED_BY = """CASE
    WHEN _next IS NULL THEN NULL
    WHEN _next._op IN ('delete', 'resync') THEN _next._end
    WHEN _next._op = 'create' OR _next._czxid <> _czxid THEN 'recreated'
    WHEN _next._decode_error IS NOT NULL THEN 'unreadable'
    ELSE 'changed' END"""

# Unknown czxid: a create whose stat nobody could read; what follows it is the same life.
_UNSEEN = """CASE
    WHEN _value IS NOT NULL THEN NULL
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
    # Marks bear ascending seqs: what was last seen before the next state, was seen of this one.
    "seen_seq": "IF(_next IS NULL, _seen_last, _next._seen_before)",
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
