"""SQL for the aged cluster's history: the rows of its tables, and the records of its log.

Both come from the same states, so that a rebuild from the log makes the very same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench.aged_lake.thing import Thing, time_sql
from bench.aged_lake.world import DAY_MS, World
from delta_tables.table import Column, Table
from delta_tables.tables.znode_events import FRAME, STAT, ZNODE_EVENTS

_ARROW = {
    "STRING": "VARCHAR",
    "INT": "INT",
    "BIGINT": "BIGINT",
    "BOOLEAN": "BOOLEAN",
    "DOUBLE": "DOUBLE",
    "DATE": "DATE",
}
_STAT_FIELDS = [field.partition(":")[0].strip() for field in STAT[7:-1].split(",")]
_FRAME_FIELDS = [field.partition(":")[0].strip() for field in FRAME[7:-1].split(",")]


def select_states(world: World, thing: Thing) -> str:
    """SQL: k, r, czxid, version, from_seq, from_ms, to_seq, to_ms, from_day, to_day, session."""
    first = world.first_seq + 1 + thing.first
    starts = (
        f"SELECT value AS k, {first} + value AS seq, {world.start_ms} AS ms "  # noqa: S608
        f"FROM generate_series(0, {thing.count - 1})"
    )
    if thing.lots is not None:
        starts += f" UNION ALL {world.slots(*thing.lots, thing.count)}"
    czxid = "seq" if thing.is_claimed else f"({first} + k)"
    version = "0" if thing.is_claimed else "r"
    states = (
        "SELECT k, seq, ms, CAST(row_number() OVER turns AS BIGINT) - 1 AS r, "  # noqa: S608
        f"lead(seq) OVER turns AS to_seq, lead(ms) OVER turns AS to_ms FROM ({starts}) "
        "WINDOW turns AS (PARTITION BY k ORDER BY seq)"
    )
    last_seq = f"coalesce(to_seq, {world.last_seq})"
    return (
        f"SELECT k, r, {_zxid(world, czxid)} AS czxid, {version} AS version, seq AS from_seq, "  # noqa: S608
        f"ms AS from_ms, to_seq, to_ms, {world.day_of('seq')} AS from_day, "
        f"{world.day_of(last_seq)} AS to_day, {thing.session or 'NULL'} AS session FROM ({states})"
        + (" WHERE r % 2 = 0" if thing.is_claimed else "")
    )


def select_thing_rows(world: World, thing: Thing) -> str:
    """SQL: the table's rows, and when each was written: `day` and `chunk`."""
    read = f"{world.first_seq} + to_day * {world.day_length} + {1 + thing.first} + k"
    columns = {
        **thing.columns,
        "seen_seq": f"CASE WHEN to_day > from_day THEN {read} ELSE from_seq END",
    }
    ended_by = "deleted" if thing.is_claimed else "changed"
    states = select_states(world, thing)
    commits = world.size.commits
    return select_rows(world, thing.table, states, columns, ended_by=ended_by, commits=commits)


def select_rows(
    world: World,
    table: Table,
    states: str,
    columns: Mapping[str, str],
    *,
    ended_by: str,
    commits: int,
) -> str:
    """SQL: states as rows of a table, the last day of which came in so many commits."""
    made = {
        "cluster": f"'{world.cluster}'",
        "session": "session",
        "seen_seq": "from_seq",
        **columns,
        "czxid": "czxid",
        "znode_version": "version",
        "fidelity": "'exact'",
        "is_known": "true",
        "unseen_versions": "0",
        "valid_from_seq": "from_seq",
        "valid_from_zxid": _zxid(world, "from_seq"),
        "valid_from_at": time_sql("from_ms"),
        "valid_to_seq": "to_seq",
        "valid_to_zxid": _zxid(world, "to_seq"),
        "valid_to_at": time_sql("to_ms"),
        "is_clamped": "false",
        "ended_by": f"CASE WHEN to_seq IS NOT NULL THEN '{ended_by}' END",
        "is_open": "to_seq IS NULL",
        "closed_on": f"CAST({time_sql('to_ms')} AS DATE)",
    }
    return (
        f"SELECT {_select(table, made)}, to_day AS day, k % {world.size.files} AS slice, "  # noqa: S608
        f"{world.commit_of('to_seq', commits)} AS commit FROM ({states})"
    )


def select_events(world: World, things: list[Thing]) -> str:
    """SQL: the records of znode_events, and when each was written."""
    parts = [*_select_clock(world)]
    for thing in things:
        parts += _select_thing(world, thing)
    columns = _select(
        ZNODE_EVENTS,
        {
            "cluster": f"'{world.cluster}'",
            "log_id": f"'{world.log_id}'",
            "v": "1",
            "fidelity": "'exact'",
            "stat": _struct(_STAT_FIELDS, "stat_", "stat_czxid"),
            "frame": _struct(_FRAME_FIELDS, "frame_", "frame_id"),
            "observed_at": time_sql("observed_at_ms"),
            "kafka_topic": f"'zklake.{world.cluster}'",
            "kafka_partition": "0",
            "kafka_offset": f"seq - {world.first_seq}",
            "ingested_at": time_sql("observed_at_ms + 900"),
            "observed_on": f"CAST({time_sql('observed_at_ms')} AS DATE)",
            **{name: name for name in _FIELDS},
        },
    )
    return (
        f"SELECT {columns}, {world.day_of('seq')} AS day, seq % {world.size.files} AS slice, "  # noqa: S608
        f"{world.commit_of('seq', world.size.commits)} AS commit FROM ({' UNION ALL '.join(parts)})"
    )


_FIELDS = ("seq", "op", "observed_at_ms", "path", "kind", "zxid", "data", "origin")
_PARTS = (
    *_FIELDS,
    *(f"stat_{name}" for name in _STAT_FIELDS),
    *(f"frame_{name}" for name in _FRAME_FIELDS),
)
_TEXTS = ("op", "path", "kind", "data", "origin", "frame_id", "frame_base")


def _select_clock(world: World) -> Iterator[str]:
    yield _record({"op": "'heartbeat'", "seq": "seq", "observed_at_ms": "ms"}, world.heartbeats())
    days = f"SELECT value AS d FROM generate_series(0, {world.size.days - 1})"  # noqa: S608
    begin = f"{world.first_seq} + d * {world.day_length}"
    frame = {
        "observed_at_ms": f"{world.start_ms} + d * {DAY_MS}",
        "path": "'/'",
        "frame_id": "concat('frame-', d)",
    }
    yield _record({**frame, "op": "'frame_begin'", "seq": begin}, days)
    end = {
        "op": "'in_sync'",
        "seq": f"{begin} + {world.frame_length - 1}",
        "frame_base": "CASE WHEN d = 0 THEN 'none' ELSE 'model' END",
        "frame_znodes": str(world.znodes),
        "frame_unreadable": "0",
    }
    yield _record({**frame, **end}, days)


def _select_thing(world: World, thing: Thing) -> Iterator[str]:
    states = select_states(world, thing)
    known = {"path": thing.path, "kind": f"'{thing.kind}'"}
    value = {
        **known,
        "data": thing.data,
        "stat_czxid": "czxid",
        "stat_mzxid": _zxid(world, "from_seq"),
        "stat_ctime": "from_ms" if thing.is_claimed else str(world.start_ms),
        "stat_mtime": "from_ms",
        "stat_version": "version",
        "stat_ephemeral_owner": "coalesce(session, 0)",
    }
    began = {**value, "seq": "from_seq", "observed_at_ms": "from_ms"}
    verb = "create" if thing.is_claimed else "set"
    changed = {"op": f"'{verb}'", "zxid": _zxid(world, "from_seq"), "origin": "'watch'"}
    seen = {"op": "'read'", "origin": "'scan'"}
    yield _record({**began, **seen}, f"SELECT * FROM ({states}) WHERE r = 0")  # noqa: S608
    yield _record({**began, **changed}, f"SELECT * FROM ({states}) WHERE r > 0")  # noqa: S608
    later = (
        "SELECT *, unnest(range(from_day + 1, to_day + 1)) AS d "  # noqa: S608
        f"FROM ({states}) WHERE to_day > from_day"
    )
    place = {
        "seq": f"{world.first_seq} + d * {world.day_length} + {1 + thing.first} + k",
        "observed_at_ms": f"{world.start_ms} + d * {DAY_MS}",
    }
    yield _record({**value, **seen, **place}, later)
    if thing.is_claimed:
        gone = {"op": "'delete'", "zxid": _zxid(world, "to_seq"), "origin": "'watch'"}
        place = {"seq": "to_seq", "observed_at_ms": "to_ms", "stat_czxid": "czxid"}
        ends = f"SELECT * FROM ({states}) WHERE to_seq IS NOT NULL"  # noqa: S608
        yield _record({**known, **gone, **place}, ends)


def _record(fields: Mapping[str, str], source: str) -> str:
    columns = ", ".join(
        f"CAST({fields.get(name, 'NULL')} AS {'VARCHAR' if name in _TEXTS else 'BIGINT'}) AS {name}"
        for name in _PARTS
    )
    return f"SELECT {columns} FROM ({source})"  # noqa: S608


def _struct(names: list[str], prefix: str, needs: str) -> str:
    inner = ", ".join(f"'{name}', {prefix}{name}" for name in names)
    return f"CASE WHEN {needs} IS NOT NULL THEN named_struct({inner}) END"


def _zxid(world: World, seq: str) -> str:
    return f"({seq} - {world.first_seq} + 1000)"


def _select(table: Table, made: Mapping[str, str]) -> str:
    return ", ".join(f"{_cast(c, made.get(c.name, 'NULL'))} AS {c.name}" for c in table.columns)


def _cast(column: Column, sql: str) -> str:
    """Nested types are cast by whoever writes them into the table."""
    if column.type in _ARROW:
        return f"CAST({sql} AS {_ARROW[column.type]})"
    return time_sql("NULL") if column.type == "TIMESTAMP" and sql == "NULL" else sql
