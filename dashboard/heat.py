"""How many of something per name and hour: a table that is coloured. Knows not what it counts.

Colours are classes of the style sheet; what they say stands in the cell as a number, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import NamedTuple

from markupsafe import Markup

from delta_tables.live.span import Span
from zklake.times import write_time

_HOUR, _DAY = 3600, 86_400
_WIDTHS = (_HOUR, 2 * _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY)
_MOST_COLUMNS = 32
# More columns are narrow ones, and not each of them can say its time.
_WIDE_COLUMNS, _TIMES = 13, 9
# Fewer than these are never the darkest.
_LEVELS = 5


class Cell(NamedTuple):
    """So many, and where to see them."""

    value: int
    title: str
    href: str


class HeatRow(NamedTuple):
    """One name, and its cells by when they begin."""

    label: str
    href: str
    cells: Mapping[datetime, Cell]


def choose_width(span: Span) -> int:
    """Seconds of a column: an hour, or as few as keep the table on a screen."""
    days = ceil(span.seconds / _DAY / (_MOST_COLUMNS - 2)) * _DAY
    return next((width for width in _WIDTHS if span.seconds / width < _MOST_COLUMNS - 1), days)


def list_columns(span: Span, width: int) -> list[datetime]:
    """When each column begins; the first and the last may be cut by the range."""
    first = int(span.start.timestamp()) // width * width
    count = ceil((span.end.timestamp() - first) / width)
    begin = datetime.fromtimestamp(first, UTC)
    return [begin + timedelta(seconds=width * number) for number in range(count)]


def draw_heat(rows: Sequence[HeatRow], columns: Sequence[datetime], caption: str) -> Markup:
    """One line per row."""
    most = max((cell.value for row in rows for cell in row.cells.values()), default=0)
    body = Markup("").join(_draw_row(row, columns, max(most, _LEVELS)) for row in rows)
    dense = " dense" if len(columns) > _WIDE_COLUMNS else ""
    return Markup(
        '<div class="scroll newest"><table class="heat{}"><caption>{}</caption><thead><tr>'
        '<th scope="col">Group</th>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(dense, caption, _draw_heads(columns), body)


def _draw_heads(columns: Sequence[datetime]) -> Markup:
    """Round times are shown, others in the tooltip; the day stands where it is another."""
    width = columns[1] - columns[0] if len(columns) > 1 else timedelta(hours=1)
    step = ceil(len(columns) / _TIMES) if len(columns) > _WIDE_COLUMNS else 1
    heads, day = [], None
    for at in columns:
        is_seen = at.timestamp() // width.total_seconds() % step == 0
        texts = [_draw_time(at, "day", "%m-%d")] if at.date() != day or not is_seen else []
        texts += [_draw_time(at, "minute", "%H:%M")] if width < timedelta(days=1) else []
        day = at.date() if is_seen else day
        heads.append(
            Markup('<th scope="col"><span{}>{}</span></th>').format(
                "" if is_seen else Markup(' class="unseen"'), Markup(" ").join(texts)
            )
        )
    return Markup("").join(heads)


def _draw_time(at: datetime, form: str, text: str) -> Markup:
    return Markup('<time datetime="{}" data-form="{}">{}</time>').format(
        write_time(at), form, at.strftime(text)
    )


def _draw_row(row: HeatRow, columns: Sequence[datetime], most: int) -> Markup:
    cells = Markup("").join(_draw_cell(row.cells.get(at), most) for at in columns)
    return Markup('<tr><th scope="row"><a href="{}" title="{}">{}</a></th>{}</tr>').format(
        row.href, row.label, row.label, cells
    )


def _draw_cell(cell: Cell | None, most: int) -> Markup:
    if cell is None:
        return Markup("<td></td>")
    return Markup(
        '<td class="heat-{}"><a href="{}" title="{}" aria-label="{}">{:,}</a></td>'
    ).format(ceil(_LEVELS * cell.value / most), cell.href, cell.title, cell.title, cell.value)
