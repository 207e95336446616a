"""Why a group's lag rose: one rise of one group, by the view root_cause, with the rows behind.

Whatever may take long is asked in the sandbox; the few rows behind are looked up here.
Knows nothing of the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from delta_tables import reading
from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.explanation import Cause, Explanation, Row
from delta_tables.asking.lakes import Lake
from delta_tables.asking.moments import find_doubts
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import quote
from zklake.errors import QueryError
from zklake.spelling import did_you_mean

# Around a moment that somebody names, and when nobody named one.
_NEAR, _LATELY = timedelta(hours=1), timedelta(days=1)
# Rows are shown for so many causes; so many of each.
_SHOWN_CAUSES, _SHOWN_ROWS = 3, 5
_Ask = Callable[..., list[Row]]
_RISE = ("rise_from", "rise_to", "lag_before", "lag_after", "added")


def explain(
    lakes: Sequence[Lake],
    group_id: str,
    at: datetime | None,
    limits: Limits,
    cancellation: Cancellation | None = None,
) -> list[Explanation]:
    """The largest rise in the hour before a moment (none: of the last day), and its causes."""
    ask = partial(_ask, lakes, limits, cancellation)
    places = _find_group(ask, lakes, group_id)
    until = datetime.now(UTC) if at is None else at
    since = until - (_LATELY if at is None else _NEAR)
    sql = (
        f"SELECT * FROM root_cause WHERE group_id = {quote(group_id)} "  # noqa: S608
        f"AND rise_from <= {_write(until)} AND rise_to >= {_write(since)} ORDER BY rise_from, rank"
    )
    rows = ask(sql, _find_only(group_id))
    return [
        _explain_one((lake, coordinator, group_id), (since, until), at, rows)
        for lake, coordinator in places
    ]


def _find_only(group_id: str) -> dict[str, str]:
    """By table, the rows that can explain a rise of this group: the view would look at all."""
    mine = f"group_id = {quote(group_id)}"
    # Under a name of its own: DataFusion makes a join of it, and `topic` would be ambiguous.
    read = f"topic IN (SELECT offset_lag.topic AS read FROM offset_lag WHERE {mine})"  # noqa: S608
    tables = ("offset_lag", "rebalances", "consumer_membership")
    return {**dict.fromkeys(tables, mine), "partition_state": read}


def _explain_one(
    group: tuple[Lake, str, str],
    span: tuple[datetime, datetime],
    at: datetime | None,
    rows: Sequence[Row],
) -> Explanation:
    lake, coordinator, group_id = group
    place = (lake.cluster, coordinator)
    mine = [row for row in rows if (row["cluster"], row["coordinator"]) == place]
    largest = max(mine, key=lambda row: (row["added"], row["rise_from"]), default=None)
    rise = None if largest is None else {name: largest[name] for name in _RISE}
    found = [_read_cause(row) for row in mine if rise and row["rise_from"] == rise["rise_from"]]
    moments = [at] if at else []
    moments += [rise["rise_from"], rise["rise_to"]] if rise else []
    doubts = [doubt for one in moments for doubt in find_doubts(lake.path, lake.cluster, one)]
    return Explanation(
        *place,
        group_id,
        *span,
        rise,
        [_add_rows(lake, cause, group_id) for cause in found],
        _find_now(lake, coordinator, group_id),
        list(dict.fromkeys(doubts)),
    )


def _find_now(lake: Lake, coordinator: str, group_id: str) -> Row | None:
    wanted = f"group_id = {quote(group_id)} AND coordinator = {quote(coordinator)}"
    sql = f"SELECT * FROM group_lag_now WHERE {wanted}"  # noqa: S608
    return next(iter(_look_up(lake, ("group_lag_now",), sql)), None)


def _read_cause(row: Row) -> Cause:
    names = ("rank", "cause", "entity", "at", "evidence", "score", "source_table", "source_seq")
    return Cause(*(row[name] for name in names))


def _add_rows(lake: Lake, cause: Cause, group_id: str) -> Cause:
    if cause.rank > _SHOWN_CAUSES or cause.source_table is None or cause.source_seq is None:
        return cause
    where = f"{cause.source_seq} IN (valid_from_seq, valid_to_seq)"
    if "group_id" in TABLE_BY_NAME[cause.source_table].names:
        where += f" AND group_id = {quote(group_id)}"
    sql = f"SELECT * FROM {cause.source_table} WHERE {where} LIMIT {_SHOWN_ROWS}"  # noqa: S608
    cause.rows.extend(_look_up(lake, (cause.source_table,), sql))
    return cause


def _find_group(ask: _Ask, lakes: Sequence[Lake], group_id: str) -> list[tuple[Lake, str]]:
    """Where there is such a group, on which coordinators; QueryError when nowhere."""
    sql = _select_groups("cluster, coordinator", f"group_id = {quote(group_id)}")
    known = {(row["cluster"], row["coordinator"]) for row in ask(sql)}
    found = [
        (lake, coordinator) for lake in lakes for at, coordinator in known if at == lake.cluster
    ]
    if not found:
        names = {row["group_id"] for row in ask(_select_groups("group_id", "is_open"))}
        near = did_you_mean(group_id, sorted(names)) or f"; {len(names)} groups are known"
        raise QueryError(
            f"no group {group_id!r} in {', '.join(one.cluster for one in lakes)}{near}"
        )
    return sorted(found)


def _select_groups(columns: str, where: str) -> str:
    tables = ("consumer_membership", "consumer_offsets")
    return " UNION ".join(f"SELECT {columns} FROM {name} WHERE {where}" for name in tables)  # noqa: S608


def _ask(
    lakes: Sequence[Lake],
    limits: Limits,
    cancellation: Cancellation | None,
    sql: str,
    only: Mapping[str, str] | None = None,
) -> list[Row]:
    with run_query(lakes, sql, limits, only, cancellation=cancellation) as answer:
        return [dict(zip(answer.names, row, strict=True)) for some in answer for row in some]


def _look_up(lake: Lake, names: Sequence[str], sql: str) -> list[Row]:
    opened = reading.open_named([lake], names)
    return reading.query_rows({name: tables[0] for name, tables in opened.items()}, sql)


def _write(at: datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat()}'"
