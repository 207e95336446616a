"""When something changed around a moment: the change before it, the one after, and a picture."""

from __future__ import annotations

from datetime import datetime, timedelta

from markupsafe import Markup

from delta_tables.live.span import Span, write_timestamp
from delta_tables.live.tables import Row, Tables
from zklake.phrases import format_count

# Each with how it is drawn and named, the gravest last: it is drawn on top.
_KINDS = {
    "ownership_history": ("c3", "owner"),
    "partition_state": ("c0", "partition state"),
    "controller": ("c1", "controller"),
    "broker_membership": ("hole", "broker"),
}
_COLUMNS = 120
_NEAR = """
SELECT max(valid_from_at) FILTER (WHERE valid_from_at < {at}) AS before,
  min(valid_from_at) FILTER (WHERE valid_from_at > {at}) AS after
FROM {table}
WHERE (is_open OR closed_on >= {day}) AND valid_from_at BETWEEN {low} AND {high}
"""
_DENSITY = """
SELECT CAST(floor((date_part('epoch', valid_from_at) - {first}) / {width}) AS BIGINT) AS place,
  count(*) AS changes
FROM {table}
WHERE (is_open OR closed_on >= DATE '{day}') AND {within}
GROUP BY place
"""


def find_near(tables: Tables, at: datetime) -> dict[str, datetime | None]:
    """When something changed last before that moment, and first after it, within a day."""
    before: list[datetime] = []
    after: list[datetime] = []
    day = timedelta(days=1)
    for table in _KINDS:
        sql = _NEAR.format(
            table=table,
            at=write_timestamp(at),
            day=f"DATE '{(at - day).date().isoformat()}'",
            low=write_timestamp(at - day),
            high=write_timestamp(at + day),
        )
        for row in tables.query(sql, table):
            before += [row["before"]] if row["before"] else []
            after += [row["after"]] if row["after"] else []
    return {"before": max(before, default=None), "after": min(after, default=None)}


def count_changes(tables: Tables, span: Span) -> list[Row]:
    """How many changes began in each part of a range, of each kind."""
    # To the minute: the answer may be kept until the next one.
    width, first = span.seconds / _COLUMNS, span.start.timestamp() // 60 * 60
    found = []
    for table in _KINDS:
        sql = _DENSITY.format(
            table=table,
            first=first,
            width=width,
            day=span.start.date().isoformat(),
            within=span.write_within("valid_from_at"),
        )
        for row in tables.query(sql, table):
            if 0 <= row["place"] < _COLUMNS:
                at = span.start + timedelta(seconds=width * row["place"])
                found.append({"table": table, "at": at, "changes": row["changes"]})
    return found


def draw_changes(counts: list[Row], span: Span) -> Markup:
    """A strip above the slider: where to look."""
    most = max((row["changes"] for row in counts), default=1)
    drawn = Markup("").join(_draw_change(row, span, most) for row in counts)
    return Markup(
        '<svg class="strip" role="img" aria-label="{}" preserveAspectRatio="none">{}</svg>'
    ).format("Changes over the time range", drawn)


def _draw_change(row: Row, span: Span, most: int) -> Markup:
    tone, noun = _KINDS[row["table"]]
    # Few among many must still be seen.
    height = 30 + 70 * row["changes"] / most
    return Markup(
        '<rect class="{}" x="{:.2f}%" y="{:.0f}%" width="{:.2f}%" height="{:.0f}%">'
        "<title>{}</title></rect>"
    ).format(
        tone,
        100 * span.share(row["at"]),
        100 - height,
        100 / _COLUMNS,
        height,
        format_count(row["changes"], f"{noun} change"),
    )
