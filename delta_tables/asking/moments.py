"""A moment somebody names, the rows that held at it, and what the lake cannot know about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.intervals import INTERVAL_COLUMNS
from delta_tables.table import Table
from zklake.errors import QueryError
from zklake.times import MOMENT_FORMS

if TYPE_CHECKING:
    from deltalake import DeltaTable

_AGO = re.compile(r"-((?:\d+[wdhms])+)")
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_CLOCK = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?Z?")
# A moment in SQL: what TIMESTAMP says it is, or a text that has a day and a time of day.
_LITERAL = re.compile(
    r"\bTIMESTAMP(?:TZ)?\s*'(\d{4}-[^']+)'|'(\d{4}-\d\d-\d\d[T ]\d\d:[^']+)'", re.IGNORECASE
)
# DataFusion counts nanoseconds in 64 bits.
_YEARS = range(1678, 2262)
# What a person wants to see of a row's bookkeeping.
_SHOWN = ("valid_from_at", "valid_to_at", "ended_by")


class Moment(NamedTuple):
    """An instant, and what of it was only supposed."""

    at: datetime
    is_zone_supposed: bool = False
    is_day_supposed: bool = False


class Doubt(NamedTuple):
    """What makes an answer less than certain; without a moment, about all of them."""

    at: datetime | None
    says: str


def parse_moment(text: str, now: datetime) -> Moment:
    """`now`, `-15m`, `16:07` or ISO 8601; without a zone it is UTC."""
    try:
        if text == "now":
            return Moment(now)
        if ago := _AGO.fullmatch(text):
            return Moment(now - _add_up(ago[1]))
        if _CLOCK.fullmatch(text):
            return _find_last(time.fromisoformat(text), now.astimezone(UTC))
        return _parse_iso(text)
    except (ValueError, OverflowError) as error:
        raise QueryError(f"Cannot read {text!r} as a time. Use {MOMENT_FORMS}.") from error


def _parse_iso(text: str) -> Moment:
    at = datetime.fromisoformat(text)
    is_naive = at.tzinfo is None
    return Moment(at.replace(tzinfo=UTC) if is_naive else at.astimezone(UTC), is_naive)


def _add_up(text: str) -> timedelta:
    parts = re.findall(r"(\d+)([wdhms])", text)
    return sum((timedelta(**{_UNITS[unit]: int(n)}) for n, unit in parts), timedelta())


def _find_last(clock: time, now: datetime) -> Moment:
    today = datetime.combine(now, clock.replace(tzinfo=UTC))
    at = today if today <= now else today - timedelta(days=1)
    return Moment(at, clock.tzinfo is None, is_day_supposed=True)


def format_supposed(text: str, moment: Moment) -> str:
    """What was supposed of a moment that somebody wrote; nothing for most."""
    if moment.is_day_supposed:
        return f"{text} has no day: taken as {_write(moment.at)}, the last one (UTC)"
    return f"{text} has no zone: taken as UTC" if moment.is_zone_supposed else ""


def find_moments(sql: str) -> list[datetime]:
    """The moments that a query names, each once."""
    found = []
    for literal in _LITERAL.finditer(sql):
        with suppress(ValueError, OverflowError):  # DataFusion judges what is not a time
            found.append(_parse_iso(literal[1] or literal[2]).at)
    return [at for at in dict.fromkeys(found) if at.year in _YEARS]


def find_interval_table(name: str) -> Table:
    """The table of that name, if its rows hold for a time."""
    table = TABLE_BY_NAME.get(name.lower())
    if table is None or not table.is_interval:
        those = ", ".join(one.name for one in TABLE_BY_NAME.values() if one.is_interval)
        what = "no table" if table is None else "records, not states,"
        raise QueryError(f"{name!r}: {what} that could be asked about a moment; there are {those}")
    return table


def write_query(
    table: Table,
    at: datetime,
    condition: str = "",
    *,
    every_column: bool = True,
    columns: Sequence[str] = (),
) -> str:
    """SQL for the rows that held at that moment; `columns` of the table, if any are chosen."""
    hidden = {column.name for column in INTERVAL_COLUMNS}.difference(() if every_column else _SHOWN)
    names = columns or [name for name in table.names if every_column or name not in hidden]
    where = [write_held(at), *([f"(\n{condition}\n)"] if condition else [])]
    return (
        f"SELECT {', '.join(names)} FROM {table.name} WHERE {' AND '.join(where)} "  # noqa: S608
        f"ORDER BY {', '.join(table.key)}"
    )


def write_held(at: datetime) -> str:
    """SQL: whether a row held at that moment. Files of earlier dates are not read."""
    utc = at.astimezone(UTC)
    moment, day = f"TIMESTAMP '{utc.isoformat()}'", f"DATE '{utc.date().isoformat()}'"
    ended_later = f"(closed_on >= {day} AND valid_to_at > {moment})"
    return f"valid_from_at <= {moment} AND (is_open OR {ended_later})"


def find_doubts(lake: str, cluster: str, at: datetime) -> Iterator[str]:
    """What makes the answer about a moment less than certain; nothing for most moments."""
    return (doubt.says for doubt in doubt_moments(lake, cluster, [at]))


def doubt_moments(lake: str, cluster: str, moments: Collection[datetime]) -> Iterator[Doubt]:
    """The doubts about several moments, for one look at the lake; none costs nothing."""
    if not moments:
        return
    from delta_tables import reading  # noqa: PLC0415

    events = reading.open_table(lake, cluster, "znode_events")
    gaps = reading.open_table(lake, cluster, "log_gaps")
    rows = [] if gaps is None else reading.query_rows({"log_gaps": gaps}, write_gaps(moments))
    yield from judge_moments(moments, None if events is None else _read_span(events), rows)


def write_gaps(moments: Collection[datetime]) -> str:
    """SQL for the gaps that these moments lie in."""
    held = " OR ".join(f"({write_held(at)})" for at in moments)
    return f"SELECT reason, path, valid_from_at, valid_to_at FROM log_gaps WHERE {held}"  # noqa: S608


def judge_moments(
    moments: Collection[datetime],
    span: tuple[datetime, datetime] | None,
    gaps: Collection[Mapping[str, Any]],
) -> Iterator[Doubt]:
    """The doubts about moments, by the times of the first and the last event and by gaps."""
    if span is None:
        yield Doubt(None, "the lake has no data yet")
    else:
        yield from _doubt_span(moments, *span)
    for gap in gaps:
        start, end = gap["valid_from_at"], gap["valid_to_at"]
        until = _write(end) if end else "now"
        below = f" below {gap['path']}" if gap["path"] else ""
        says = (
            f"it lies in a gap ({gap['reason']}{below}, {_write(start)} to {until})"
            ": changes could pass unseen"
        )
        yield from (Doubt(at, says) for at in moments if start <= at and (not end or at < end))


def _doubt_span(moments: Collection[datetime], first: datetime, last: datetime) -> Iterator[Doubt]:
    for at in moments:
        if at > last:
            yield Doubt(
                at,
                f"it is past the watermark: the lake has data up to {_write(last)} (on a quiet "
                "cluster that is up to a minute behind)",
            )
        elif at < first:
            yield Doubt(
                at,
                f"it is before the first event, of {_write(first)}: only states that still held "
                "then are known, by the times ZooKeeper keeps of each znode",
            )


def _read_span(events: DeltaTable) -> tuple[datetime, datetime] | None:
    """The times of the first and of the last event, by the statistics in Delta's log."""
    actions = events.get_add_actions(flatten=True)

    def read(name: str) -> list[int]:
        values = actions.column(name).to_pylist() if name in actions.schema.names else []
        return [value for value in values if value is not None]

    first, last = read("min.observed_at_ms"), read("max.observed_at_ms")
    if not first or not last:
        return None
    return _read_ms(min(first)), _read_ms(max(last))


def _read_ms(value: int) -> datetime:
    return datetime.fromtimestamp(value / 1000, UTC)


def _write(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
