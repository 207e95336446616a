"""Timelines and columns as SVG, drawn on the server. Knows times and widths, not what they mean.

Places are percentages, so that a drawing fits any screen; every text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

from delta_tables.live.span import Span
from zklake.times import write_time

_STEPS = (1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
_DAY = 86_400
# Narrower than this (of the whole) nobody sees it.
_LEAST = 0.003
_PARTITION = re.compile(r"(.+)(-\d{1,9})", re.DOTALL)
# So much of the whole a letter needs; of a longer text its beginning says enough.
_LETTER, _LETTERS = 0.009, 6


class Bar(NamedTuple):
    """Something that lasted. The tone is a class of the style sheet: hole, bad, thin, quiet, point.

    A colour of dashboard/colours.py stands for a name.
    """

    start: datetime
    end: datetime
    title: str
    tone: str
    href: str = ""
    text: str = ""
    colour: str = ""


class Lane(NamedTuple):
    """One thing, and what became of it."""

    label: str
    bars: Sequence[Bar]
    href: str = ""
    # Of the line in the charts above that is about the same thing.
    colour: str = ""


class Column(NamedTuple):
    """How many of something, from its start on."""

    start: datetime
    value: int
    title: str
    href: str = ""


def draw_lanes(lanes: Iterable[Lane], span: Span, caption: str) -> Markup:
    """One line per lane, and the time below."""
    return Markup('<div class="lanes" role="group" aria-label="{}">{}{}</div>').format(
        caption, draw_tracks(lanes, span), draw_axis(span)
    )


def draw_tracks(lanes: Iterable[Lane], span: Span) -> Markup:
    """One line per lane, for a drawing that has an axis of its own."""
    return Markup("").join(_draw_lane(lane, span) for lane in lanes)


def draw_axis(span: Span) -> Markup:
    """The times below, and in which zone they are."""
    return Markup(
        '<div class="lane axis"><span class="lane-label" data-zone-name>UTC</span>{}</div>'
    ).format(_draw_times(span))


def draw_grid(span: Span, gaps: Iterable[Bar] = ()) -> Markup:
    """What lies below all lines and lanes of a drawing: the times of its axis, and the gaps."""
    lines = Markup("").join(
        Markup('<line x1="{0:.3f}%" x2="{0:.3f}%" y1="0" y2="100%"/>').format(100 * span.share(at))
        for at, _ in list_ticks(span)
    )
    shades = Markup("").join(
        Markup('<rect class="gap-time" x="{:.3f}%" width="{:.3f}%" y="0" height="100%"/>').format(
            *(100 * share for share in _place(gap, span))
        )
        for gap in gaps
    )
    return Markup('<svg class="grid" aria-hidden="true">{}{}</svg>').format(shades, lines)


def draw_columns(columns: Sequence[Column], span: Span, width_s: float, caption: str) -> Markup:
    """Columns over time; the highest is as high as the drawing."""
    most = max((column.value for column in columns), default=0) or 1
    width = max(100 * width_s / max(span.seconds, 1) - 0.3, 0.3)
    drawn = Markup("").join(
        _link(
            Markup(
                '<rect class="c0" x="{:.3f}%" y="{:.1f}%" width="{:.3f}%" height="{:.1f}%"/>'
            ).format(
                100 * span.share(column.start),
                100 - 94 * column.value / most,
                width,
                94 * column.value / most,
            ),
            column.href,
            column.title,
        )
        for column in columns
        if column.value
    )
    return Markup(
        '<div class="columns" role="group" aria-label="{}"><svg class="column-bars">{}</svg>'
        '{}<span class="most">max {} · <span data-zone-name>UTC</span></span></div>'
    ).format(caption, drawn, _draw_times(span), most)


def _draw_lane(lane: Lane, span: Span) -> Markup:
    bars = Markup("").join(_draw_bar(bar, span) for bar in _thin(lane.bars, span))
    key = (
        Markup('<svg class="swatch" aria-hidden="true"><rect fill="{}"/></svg>').format(lane.colour)
        if lane.colour
        else ""
    )
    # Of a long name, the number of the partition is seen as well.
    found = _PARTITION.fullmatch(lane.label)
    name, number = found.groups() if found else (lane.label, "")
    label = (
        Markup('<a class="lane-label" href="{}" title="{}">{}<span>{}</span>{}</a>')
        if lane.href
        else Markup('<span class="lane-label" title="{1}">{2}<span>{3}</span>{4}</span>')
    )
    return Markup(
        '<div class="lane" data-name="{}">{}<svg class="lane-bars">{}</svg></div>'
    ).format(lane.label, label.format(lane.href, lane.label, key, name, number), bars)


def _place(bar: Bar, span: Span) -> tuple[float, float]:
    """Where it begins and how wide it is, of the whole."""
    left, right = span.share(bar.start), span.share(bar.end)
    width = max(right - left, _LEAST)
    return min(left, 1 - width), width


def _draw_bar(bar: Bar, span: Span) -> Markup:
    left, width = _place(bar, span)
    if bar.tone == "point":
        # Drawn by its middle, which is the moment.
        drawn = Markup(
            '<svg x="{:.3f}%" width="1" class="point"><path d="M0 2l7 7-7 7-7-7z"/></svg>'
        ).format(100 * span.share(bar.start))
        return _link(drawn, bar.href, bar.title, bar)
    fill = Markup(' fill="{}"').format(bar.colour) if bar.colour else ""
    rect = Markup(
        '<rect class="{}"{} x="{:.3f}%" width="{:.3f}%" y="1" height="16" rx="2"/>'
    ).format(bar.tone, fill, 100 * left, 100 * width)
    if bar.text and width > _LETTER * min(len(bar.text), _LETTERS):
        # An svg of its own cuts the text off where the bar ends.
        named = " named" if bar.colour else ""
        rect += Markup(
            '<svg x="{:.3f}%" width="{:.3f}%"><text class="bar-text{}" x="5" y="13">{}</text></svg>'
        ).format(100 * left, 100 * width, named, bar.text)
    return _link(rect, bar.href, bar.title, bar)


def _link(drawn: Markup, href: str, title: str, bar: Bar | None = None) -> Markup:
    times = (
        Markup(' data-from="{}" data-to="{}"').format(write_time(bar.start), write_time(bar.end))
        if bar is not None
        else ""
    )
    if not href:
        return Markup('<g role="img" aria-label="{}"{}>{}</g>').format(title, times, drawn)
    return Markup('<a href="{}" aria-label="{}"{}>{}</a>').format(href, title, times, drawn)


def _thin(bars: Sequence[Bar], span: Span) -> Iterator[Bar]:
    """Bars that would be drawn on top of each other become one."""
    small: list[Bar] = []
    for bar in bars:
        is_small = span.share(bar.end) - span.share(bar.start) < _LEAST / 2
        is_near = bool(small) and span.share(bar.end) - span.share(small[0].start) < _LEAST
        if is_small and (is_near or not small):
            small.append(bar)
            continue
        yield from _merge(small)
        small = [bar] if is_small else []
        if not is_small:
            yield bar
    yield from _merge(small)


def _merge(small: Sequence[Bar]) -> Iterator[Bar]:
    if not small:
        return
    worst = next((bar for bar in small if bar.tone in ("hole", "bad")), small[0])
    if len(small) == 1:
        yield worst
    else:
        what = "changes" if worst.tone == "point" else "short periods"
        title = f"{len(small)} {what}, such as {worst.title}"
        yield worst._replace(start=small[0].start, end=small[-1].end, title=title)


def _draw_times(span: Span) -> Markup:
    texts = Markup("").join(
        Markup('<text x="{:.2f}%" y="11" data-time="{}" data-form="{}">{}</text>').format(
            100 * span.share(at), write_time(at), form, at.strftime(_FORMS[form])
        )
        for at, form in list_ticks(span)
    )
    return Markup('<svg class="axis-texts" aria-hidden="true">{}</svg>').format(texts)


_FORMS = {"second": "%H:%M:%S", "minute": "%H:%M", "day": "%m-%d"}


def list_ticks(span: Span) -> list[tuple[datetime, str]]:
    """Round times in a range, and how each is written; seven at most."""
    step = next((step for step in _STEPS if span.seconds / step <= 7), 0)
    step = step or _DAY * (1 + int(span.seconds / _DAY / 7))
    form = "second" if step < 60 else "minute" if step < _DAY else "day"
    first = -(-span.start.timestamp() // step) * step
    times = [datetime.fromtimestamp(first, UTC) + timedelta(seconds=step * n) for n in range(8)]
    # The first and the last would stand out of the drawing.
    return [(at, form) for at in times if 0.03 < span.share(at) < 0.97]
