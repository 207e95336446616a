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
# Those of a range by their place in it, and the nearest ones to a moment wherever they are.
_CHANGES = """
SELECT CASE WHEN {within} THEN
    CAST(floor((date_part('epoch', valid_from_at) - {first}) / {width}) AS BIGINT) END AS place,
  count(*) AS changes,
  max(valid_from_at) FILTER (WHERE valid_from_at >= {low} AND valid_from_at < {at}) AS before,
  min(valid_from_at) FILTER (WHERE valid_from_at > {at} AND valid_from_at <= {high}) AS after
FROM {table}
WHERE (is_open OR closed_on >= DATE '{day}')
  AND (({within}) OR valid_from_at BETWEEN {low} AND {high})
GROUP BY place
"""
_NEAR = timedelta(days=1)
Near = dict[str, datetime | None]


def find_changes(tables: Tables, at: datetime, span: Span) -> tuple[Near, list[Row]]:
    """When something changed last before a moment and first after it, within a day; and how many
    changes began in each part of a range, of each kind.
    """
    # To the minute: the answer may be kept until the next one.
    width, first = span.seconds / _COLUMNS, span.start.timestamp() // 60 * 60
    before, after, counts = list[datetime](), list[datetime](), list[Row]()
    for table in _KINDS:
        sql = _CHANGES.format(
            table=table,
            first=first,
            width=width,
            at=write_timestamp(at),
            low=write_timestamp(at - _NEAR),
            high=write_timestamp(at + _NEAR),
            day=min(span.start, at - _NEAR).date().isoformat(),
            within=span.write_within("valid_from_at"),
        )
        for row in tables.query(sql, table):
            before += [row["before"]] if row["before"] else []
            after += [row["after"]] if row["after"] else []
            if row["place"] is not None and 0 <= row["place"] < _COLUMNS:
                began = span.start + timedelta(seconds=width * row["place"])
                counts.append({"table": table, "at": began, "changes": row["changes"]})
    return {"before": max(before, default=None), "after": min(after, default=None)}, counts


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
