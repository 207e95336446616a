"""Time machine: the whole cluster at one time; each table's rows are those of `zklake at`."""

from __future__ import annotations

from datetime import datetime, timedelta

from dashboard.openapi.params import Param, describe_moment
from dashboard.openapi.rows import describe_table
from dashboard.openapi.shapes import Either, Instant, choose, say
from dashboard.page import Asked, Data, Page
from delta_tables.asking.moments import (
    Moment,
    find_doubts,
    find_interval_table,
    write_query,
)
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.live.span import read_moment, write_timestamp
from delta_tables.reading import quote
from delta_tables.table import Table
from zklake.errors import LakeError
from zklake.times import write_time

_SECTIONS = (
    "broker_membership",
    "controller",
    "topics",
    "partition_state",
    "consumer_membership",
    "ownership_history",
    "consumer_offsets",
    "offset_lag",
    "admin_operations",
    "config_history",
)
_SHOWN = 50
_HIDDEN = ("cluster", "ended_by", "fold_state")
_MOST = 5000
# Columns that hold a name to look for.
_NAMES = ("topic", "group_id", "member_id", "entity_name")
# The moments at which something began, next to one.
_NEAR = """
SELECT max(valid_from_at) FILTER (WHERE valid_from_at < {at}) AS before,
  min(valid_from_at) FILTER (WHERE valid_from_at > {at}) AS after
FROM {table}
WHERE (is_open OR closed_on >= {day}) AND valid_from_at BETWEEN {low} AND {high}
"""
_RESTLESS = ("broker_membership", "controller", "partition_state", "ownership_history")


def load(asked: Asked) -> Data:
    """Every table of states at `time`, or one of them in full."""
    moment = _read_moment(asked)
    at, only = moment.at, asked.params.get("table", "")
    known = [name for name in _SECTIONS if name in TABLE_BY_NAME]
    names = [find_interval_table(only).name] if only else known
    most = _MOST if only else _SHOWN
    return {
        "time": at,
        "is_zone_supposed": moment.is_zone_supposed,
        "table": only,
        "q": asked.params.get("q", ""),
        "doubts": _find_doubts(asked, at),
        "near": _find_near(asked, at),
        "sections": [_try_section(asked, name, at, most) for name in names],
        "steps": {
            sign + text: write_time(at + (-1 if sign == "−" else 1) * timedelta(seconds=seconds))
            for sign in ("−", "+")
            for text, seconds in (("1 h", 3600), ("1 min", 60), ("1 s", 1))
        },
    }


def _read_moment(asked: Asked) -> Moment:
    """The asked one, or the last one that the lake knows."""
    if time := asked.params.get("time"):
        return read_moment(time, asked.now)
    return Moment(asked.pulse.watermark_at or asked.now)


def _try_section(asked: Asked, name: str, at: datetime, most: int) -> Data:
    """One table that cannot be read (an older zklake made it, say) does not hide the others."""
    nothing: Data = {"columns": [], "total": 0, "rows": [], "error": None}
    try:
        return nothing | _load_section(asked, name, at, most)
    except LakeError as error:
        table = TABLE_BY_NAME[name]
        return nothing | {"table": name, "grain": table.grain, "error": str(error)}


def _load_section(asked: Asked, name: str, at: datetime, most: int) -> Data:
    table = TABLE_BY_NAME[name]
    condition = ""
    if text := asked.params.get("q", "").strip():
        columns = [column for column in _NAMES if column in table.names]
        has = [f"strpos({column}, {quote(text)}) > 0" for column in columns]
        condition = " OR ".join(has) or "true"
    sql = write_query(table, at, condition, every_column=True)
    rows = asked.tables.query(f"{sql} LIMIT {most + 1}", name)
    total = len(rows)
    if total > most:
        total = asked.tables.query(f"SELECT count(*) AS rows FROM ({sql})", name)[0]["rows"]  # noqa: S608
    shown = write_query(table, at, every_column=False).split(" FROM ")[0].removeprefix("SELECT ")
    # What no row knows is left to the JSON.
    columns = [
        column
        for column in shown.split(", ")
        if column not in _HIDDEN and any(row[column] is not None for row in rows)
    ]
    return {
        "table": name,
        "grain": table.grain,
        "columns": columns,
        "total": total,
        "rows": rows[:most],
    }


def _find_doubts(asked: Asked, at: datetime) -> list[str]:
    tables = asked.tables
    return tables.derive(
        ("doubts", at),
        ("znode_events", "log_gaps"),
        lambda: list(find_doubts(tables.lake, tables.cluster, at)),
    )


def _find_near(asked: Asked, at: datetime) -> dict[str, datetime | None]:
    """When something changed last before that moment, and first after it, within a day."""
    before: list[datetime] = []
    after: list[datetime] = []
    day = timedelta(days=1)
    for table in _RESTLESS:
        sql = _NEAR.format(
            table=table,
            at=write_timestamp(at),
            day=f"DATE '{(at - day).date().isoformat()}'",
            low=write_timestamp(at - day),
            high=write_timestamp(at + day),
        )
        for row in asked.tables.query(sql, table):
            before += [row["before"]] if row["before"] else []
            after += [row["after"]] if row["after"] else []
    return {"before": max(before, default=None), "after": min(after, default=None)}


def _describe_section(table: Table) -> Data:
    return {
        "table": choose(table.name),
        "grain": str,
        "columns": say(list[str], "the columns that the page shows"),
        "total": say(int, "rows that held at that time, listed or not"),
        "rows": [describe_table(table)],
        "error": str | None,
    }


_STATES = tuple(table for table in TABLES if table.is_interval)
PAGE = Page(
    "at",
    "Time machine",
    load,
    has_span=False,
    params=(
        describe_moment("time", "The time; by default that of the last event", "-25m"),
        Param("table", choose(*(table.name for table in _STATES)), "Only this table, in full."),
        Param("q", str, "Only rows with this text in a name.", ("ord",)),
    ),
    answer={
        "time": Instant,
        "is_zone_supposed": bool,
        "table": choose("", *(table.name for table in _STATES)),
        "q": str,
        "doubts": say(list[str], "why the answer may be incomplete"),
        "near": {"before": Instant | None, "after": Instant | None},
        "sections": [Either(tuple(_describe_section(table) for table in _STATES))],
        "steps": say(dict[str, str], "times to go to from here"),
    },
)
