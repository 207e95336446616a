"""Time machine: the cluster at one moment, what differs from now, and the rows behind it."""

from __future__ import annotations

import shlex
from datetime import datetime, timedelta

from markupsafe import Markup

from dashboard.moment.differences import DIFFERENCE, list_differences
from dashboard.moment.neighbours import draw_changes, find_changes
from dashboard.moment.snapshot import SNAPSHOT, MomentState, load_snapshot, narrow
from dashboard.moment.wanted import MomentSearch, read_wanted, write_wanted
from dashboard.openapi.params import Param, describe_moment
from dashboard.openapi.rows import describe_table
from dashboard.openapi.shapes import Instant, Tagged, choose, say
from dashboard.page import Asked, Data, Page
from delta_tables.asking.moments import Moment, find_interval_table, write_query
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.live.freshness import find_doubts
from delta_tables.live.span import Span, read_moment
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


def load(asked: Asked) -> Data:
    """The snapshot at `time`; with `raw` also every table of states, or one of them in full."""
    moment, wanted = _read_moment(asked), read_wanted(asked.tables, asked.params.get("q", ""))
    at, only = moment.at, asked.params.get("table", "")
    names = [find_interval_table(only).name] if only else list(_SECTIONS)
    is_raw = bool(only) or asked.params.get("raw", "") == "1"
    then = MomentState(narrow(asked.tables, at), at, wanted)
    snapshot = load_snapshot(then)
    window = _choose_window(asked.span, at)
    near, changes = find_changes(asked.tables, at, window)
    is_last = asked.pulse.watermark_at is None or at >= asked.pulse.watermark_at
    return {
        "time": at,
        "is_zone_supposed": moment.is_zone_supposed,
        "table": only,
        "q": asked.params.get("q", ""),
        "partition": wanted.partition,
        "doubts": find_doubts(asked.tables, at),
        "near": near,
        "window": {"start": window.start, "end": window.end},
        "changes": changes,
        "snapshot": snapshot,
        "is_last": is_last,
        "differences": [] if is_last else list_differences(then, snapshot),
        "is_raw": is_raw,
        "sections": [_try_section(asked, name, at, wanted) for name in names] if is_raw else [],
        "commands": {name: _write_command(name, at, wanted) for name in {*_SECTIONS, *names}},
        "steps": {
            sign + text: write_time(at + (-1 if sign == "−" else 1) * timedelta(seconds=seconds))
            for sign in ("−", "+")
            for text, seconds in (("1 h", 3600), ("1 min", 60), ("1 s", 1))
        },
    }


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """Where something changed, above the slider."""
    window = Span(data["window"]["start"], data["window"]["end"])
    return {"changes": draw_changes(data["changes"], window)}


def _read_moment(asked: Asked) -> Moment:
    """The asked one, or the last one that the lake knows."""
    if time := asked.params.get("time"):
        return read_moment(time, asked.now)
    return Moment(asked.pulse.watermark_at or asked.now)


def _choose_window(span: Span, at: datetime) -> Span:
    """What the slider spans: the range, moved where the moment lies outside of it."""
    if span.start <= at <= span.end:
        return span
    half = timedelta(seconds=span.seconds / 2)
    return Span(at - half, at + half)


def _write_command(name: str, at: datetime, wanted: MomentSearch) -> str:
    """The same rows on the command line."""
    condition = write_wanted(wanted, TABLE_BY_NAME[name])
    # In double quotes where no shell minds: SQL's own quotes stay readable.
    is_plain = not set(condition) & set('"$`\\!')
    quoted = f'"{condition}"' if is_plain else shlex.quote(condition)
    where = f" --where {quoted}" if condition else ""
    return f"zklake at {write_time(at)} {name}{where}"


def _try_section(asked: Asked, name: str, at: datetime, wanted: MomentSearch) -> Data:
    """One table that cannot be read (an older zklake made it, say) does not hide the others."""
    nothing: Data = {"columns": [], "total": 0, "rows": [], "error": None}
    try:
        return nothing | _load_section(asked, name, at, wanted)
    except LakeError as error:
        table = TABLE_BY_NAME[name]
        return nothing | {"table": name, "grain": table.grain, "error": str(error)}


def _load_section(asked: Asked, name: str, at: datetime, wanted: MomentSearch) -> Data:
    table, most = TABLE_BY_NAME[name], _MOST if asked.params.get("table") else _SHOWN
    sql = write_query(table, at, write_wanted(wanted, table), every_column=True)
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


def _describe_section(table: Table) -> Data:
    return {
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
    draw=draw,
    params=(
        describe_moment("time", "The time; by default that of the last event", "-25m"),
        Param("table", choose(*(table.name for table in _STATES)), "Only this table, in full."),
        Param(
            "q",
            str,
            "Only what this text names: a partition (`orders-3`), a broker (`broker 2`), or a "
            "part of the name of a topic, a group or a member.",
            ("ord", "orders-3"),
        ),
        Param("raw", choose("1"), "With the rows of every table that holds states."),
    ),
    answer={
        "time": Instant,
        "is_zone_supposed": bool,
        "table": choose("", *(table.name for table in _STATES)),
        "q": str,
        "partition": say(int | None, "the partition that `q` names, if it names one"),
        "doubts": say(list[str], "why the answer may be incomplete"),
        "near": {"before": Instant | None, "after": Instant | None},
        "window": {"start": Instant, "end": Instant},
        "changes": [{"table": str, "at": Instant, "changes": int}],
        "snapshot": SNAPSHOT,
        "is_last": say(bool, "whether it is the last state that the lake knows"),
        "differences": [DIFFERENCE],
        "is_raw": bool,
        "sections": [Tagged("table", {table.name: _describe_section(table) for table in _STATES})],
        "commands": say(dict[str, str], "the same rows on the command line, by table"),
        "steps": say(dict[str, str], "times to go to from here"),
    },
)
