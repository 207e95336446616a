"""What happens to a key of an interval table, as marks on its line, ordered by seq; in SQL.

A mark is a point at which a key's state begins, ends, or is merely seen:
  open            the row that stood open before this batch
  create set read a state begins (a read of the state that already stands is only seen)
  touch           a write whose value nobody could read, or a znode that the watcher may not read:
                  alive, but no state of its own
  delete resync   the state ends
"""

from __future__ import annotations

from collections.abc import Sequence

from delta_tables.table import Table, millis
from streaming.frames import Closure
from streaming.relation import relation_sql

_OPS = ("create", "set", "read", "delete", "unreadable")

_OPEN = {
    "_op": "'open'",
    "_seq": "valid_from_seq",
    "_zxid": "valid_from_zxid",
    "_at": "valid_from_at",
    "_czxid": "czxid",
    "_version": "znode_version",
    "_is_birth": "false",
    "_fidelity": "fidelity",
    "_is_known": "is_known",
    "_decode_error": "decode_error",
    "_seen": "seen_seq",
    "_unseen": "unseen_versions",
    "_begin": "CAST(NULL AS BIGINT)",
    "_end": "CAST(NULL AS STRING)",
    "_end_min": "CAST(NULL AS TIMESTAMP)",
}

_AT_MS = """coalesce(
    CASE op WHEN 'delete' THEN NULL WHEN 'create' THEN stat.ctime ELSE stat.mtime END,
    observed_at_ms)"""
_EVENT = {
    "_op": "IF(op IN ('set', 'read') AND fidelity = 'superseded' OR op = 'unreadable', "
    "'touch', op)",
    "_seq": "seq",
    "_zxid": """CASE op
        WHEN 'delete' THEN zxid
        WHEN 'create' THEN coalesce(stat.czxid, zxid)
        ELSE coalesce(stat.mzxid, zxid) END""",
    "_at": millis(_AT_MS),
    "_czxid": "stat.czxid",
    "_version": "coalesce(stat.version, IF(op = 'create', 0, NULL))",
    # A set in the very transaction that created the znode.
    "_is_birth": "op = 'set' AND coalesce(stat.mzxid = stat.czxid, false)",
    "_fidelity": "fidelity",
    "_is_known": "is_known",
    "_decode_error": "decode_error",
    "_seen": "seq",
    "_unseen": "CAST(NULL AS BIGINT)",
    "_begin": "CAST(NULL AS BIGINT)",
    # A gap hid when it came to this.
    "_end_min": millis("IF(op = 'delete' AND origin = 'resync', gap_from_ms, NULL)"),
}

_CLOSURE_SCHEMA = (
    "cluster STRING, begin_seq BIGINT, end_seq BIGINT, at_ms BIGINT, gap_from_ms BIGINT"
)
_CLOSURE = {
    "_op": "'resync'",
    "_seq": "end_seq",
    "_at": millis("at_ms"),
    "_begin": "begin_seq",
    "_end": "'resync'",
    "_end_min": millis("gap_from_ms"),
}


def touches(table: Table) -> str:
    """SQL: whether an event is one of the table's."""
    return f"(op IN {_OPS} AND {table.source})"


def marks_sql(table: Table, rows: str, events: str, closures: Sequence[Closure]) -> str:
    """SQL: the marks of the open rows (a view), the annotated events (another), the closures."""
    marks = f"{_open_sql(table, rows)} UNION ALL {_event_sql(table, events)}"
    if not closures:
        return marks
    return f"WITH marks AS ({marks}) TABLE marks UNION ALL {_closure_sql(table, closures)}"


def _open_sql(table: Table, rows: str) -> str:
    names = ", ".join(column.name for column in table.made)
    return f"SELECT {names}, {_list(_OPEN)} FROM {rows}"


def _event_sql(table: Table, events: str) -> str:
    made = {c.name: f"CAST({c.sql} AS {c.type})" for c in table.made}
    ends = {"_end": f"IF(op = 'delete', {table.delete_sql}, NULL)"}
    columns = {name: (_EVENT | ends)[name] for name in _OPEN}
    # A name that is no key (a broker id past 32 bits) makes no row; znode_events still tells it.
    keyed = " AND ".join(f"{made[name]} IS NOT NULL" for name in table.required_key)
    return f"SELECT {_list(made | columns)} FROM ({_decoded_sql(table, events)}) WHERE {keyed}"


def _decoded_sql(table: Table, events: str) -> str:
    assert table.payload is not None
    read = f"SELECT *, {table.payload.read_sql} AS payload FROM {events} WHERE {touches(table)}"
    judged = f"SELECT *, {table.payload.error_sql} AS decode_error FROM ({read})"
    return f"""SELECT * EXCEPT (payload),
        IF(decode_error IS NULL, payload, NULL) AS payload,
        coalesce(decode_error IS NULL AND (data <> '' OR data_b64 IS NOT NULL
            OR data_zlib_b64 IS NOT NULL) AND coalesce(rewritten, 'plain') <> '', false) AS is_known
        FROM ({judged})"""


def _closure_sql(table: Table, closures: Sequence[Closure]) -> str:
    """Put the end of every such frame on every key's line; most turn out to mean nothing."""
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
    keys = ", ".join(table.key)
    made = {c.name: c.name if c.name in table.key else "NULL" for c in table.made}
    columns = {name: _CLOSURE.get(name, "NULL") for name in _OPEN}
    return f"""SELECT {_list(made | columns)} FROM (SELECT DISTINCT {keys} FROM marks)
        JOIN ({relation_sql(_CLOSURE_SCHEMA, rows)}) USING (cluster)"""


def _list(columns: dict[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
