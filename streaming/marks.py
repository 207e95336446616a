"""What happens to a key of an interval table, as marks on its line, ordered by seq; in SQL.

A mark is a point at which a key's state begins, ends, or is merely seen:
  open            the row that stood open before this batch
  create set read a state begins (a read of the state that already stands is only seen)
  touch           a write whose value nobody could read, or a znode that the watcher may not read:
                  alive, but no state of its own
  delete resync   the state ends
Samples make marks, too: each item a set or a delete of its key, and a group_state ends whatever of
its group it does not name.
"""

from __future__ import annotations

from collections.abc import Sequence

from delta_tables.samples import KAFKA
from delta_tables.table import Table, millis
from streaming.frames import Closure
from streaming.relation import relation_sql

_OPS = ("create", "set", "read", "delete", "unreadable")

_OPEN = {
    "_op": "'open'",
    "_seq": "valid_from_seq",
    # Of two marks at one seq the lower counts.
    "_rank": "0",
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
    "_rank": "0",
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

_SAMPLE = {
    "_seq": "seq",
    "_rank": "_place",
    "_fidelity": "'exact'",
    "_is_known": "true",
    "_seen": "seq",
}

_CLOSURE_SCHEMA = (
    "cluster STRING, coordinator STRING, begin_seq BIGINT, end_seq BIGINT, at_ms BIGINT, "
    "gap_from_ms BIGINT, ended_by STRING"
)
_CLOSURE = {
    "_op": "'resync'",
    "_seq": "end_seq",
    # What the same record names stands.
    "_rank": str(2**31 - 1),
    "_at": millis("at_ms"),
    "_begin": "begin_seq",
    "_end": "ended_by",
    "_end_min": millis("gap_from_ms"),
}


def touches(table: Table) -> str:
    """SQL: whether an event is of one of the table's znodes."""
    return f"(op IN {_OPS} AND {table.source})"


def concerns(table: Table) -> str:
    """SQL: whether an event is one of the table's, of a znode or a sample."""
    return f"({touches(table)} OR {is_sample(table)})"


def is_sample(table: Table) -> str:
    """SQL: whether an event is a sample that tells the table's rows."""
    return "false" if table.samples is None else f"op = '{table.samples.op}'"


def closes(table: Table, closure: Closure) -> bool:
    """Whether rows of the table may end there."""
    return closure.coordinator != KAFKA or table.samples is not None


def marks_sql(
    table: Table, rows: str, events: str, closures: Sequence[Closure], *, has_samples: bool
) -> str:
    """SQL: the marks of the open rows (a view), the annotated events (another), the closures."""
    marks = [_open_sql(table, rows), _event_sql(table, events)]
    ends = [_closure_sql(table, closures)] if closures else []
    if table.samples is not None and has_samples:
        marks.append(_sample_sql(table, events))
        if table.samples.ends_unnamed is not None:
            ends.append(_unnamed_sql(table, events))
    if not ends:
        return " UNION ALL ".join(marks)
    every = " UNION ALL ".join(["TABLE marks", *ends])
    return f"WITH marks AS ({' UNION ALL '.join(marks)}) {every}"


def _open_sql(table: Table, rows: str) -> str:
    names = ", ".join(column.name for column in table.made)
    return f"SELECT {names}, {_list(_OPEN)} FROM {rows}"


def _event_sql(table: Table, events: str) -> str:
    made = {c.name: f"CAST({c.sql} AS {c.type})" for c in table.made}
    ends = {"_end": f"IF(op = 'delete', {table.delete_sql}, NULL)"}
    columns = {name: (_EVENT | ends)[name] for name in _OPEN}
    # A name that is no key (a broker id past 32 bits) makes no row; znode_events still tells it.
    keyed = _keyed_sql(table, made)
    return f"SELECT {_list(made | columns)} FROM ({_decoded_sql(table, events)}) WHERE {keyed}"


def _keyed_sql(table: Table, made: dict[str, str]) -> str:
    return " AND ".join(f"{made[name]} IS NOT NULL" for name in table.required_key)


def _sample_sql(table: Table, events: str) -> str:
    samples = table.samples
    assert samples is not None
    sources = {"cluster": "cluster", **samples.columns}
    made = {c.name: f"CAST({sources.get(c.name, 'NULL')} AS {c.type})" for c in table.made}
    marks = _SAMPLE | {
        "_op": f"IF({samples.is_end}, 'delete', 'set')",
        "_at": millis(samples.at_ms),
        "_is_birth": "false",
        "_end": f"IF({samples.is_end}, 'deleted', NULL)",
    }
    columns = {name: marks.get(name, "NULL") for name in _OPEN}
    told = f"""SELECT cluster, seq, observed_at_ms, {samples.op},
        posexplode({samples.items}) AS (_place, item) FROM {events} WHERE {is_sample(table)}"""
    return f"SELECT {_list(made | columns)} FROM ({told}) WHERE {_keyed_sql(table, made)}"


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
            "coordinator": c.coordinator,
            "begin_seq": c.begin_seq,
            "end_seq": c.end_seq,
            "at_ms": c.observed_at_ms,
            "gap_from_ms": c.gap_from_ms,
            "ended_by": "resync",
        }
        for c in closures
    ]
    place = "cluster" if table.samples is None else "cluster, coordinator"
    return _end_sql(table, relation_sql(_CLOSURE_SCHEMA, rows), place)


def _unnamed_sql(table: Table, events: str) -> str:
    """Put every group_state on the line of every key of its group."""
    samples = table.samples
    assert samples is not None
    columns = {
        "cluster": "cluster",
        **{name: samples.columns[name] for name in ("coordinator", "group_id")},
        "begin_seq": "seq",
        "end_seq": "seq",
        "at_ms": samples.at_ms,
        "gap_from_ms": "CAST(NULL AS BIGINT)",
        "ended_by": samples.ends_unnamed or "",
    }
    ends = f"SELECT {_list(columns)} FROM {events} WHERE {is_sample(table)}"
    return _end_sql(table, ends, "cluster, coordinator, group_id")


def _end_sql(table: Table, ends: str, place: str) -> str:
    keys = ", ".join(table.key)
    made = {c.name: c.name if c.name in table.key else "NULL" for c in table.made}
    columns = {name: _CLOSURE.get(name, "NULL") for name in _OPEN}
    return f"""SELECT {_list(made | columns)} FROM (SELECT DISTINCT {keys} FROM marks)
        JOIN ({ends}) USING ({place})"""


def _list(columns: dict[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
