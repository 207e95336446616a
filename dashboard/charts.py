"""Timelines and columns as SVG, drawn on the server. Knows times and widths, not what they mean.

Places are percentages, so that a drawing fits any screen; every text is escaped.
"""

from __future__ import annotations

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
# So much of the whole a letter needs; of a longer text its beginning says enough.
_LETTER, _LETTERS = 0.009, 6


class Bar(NamedTuple):
    """Something that lasted. The tone is a class of the style sheet: c0 … c9, hole, bad, quiet."""

    start: datetime
    end: datetime
    title: str
    tone: str
    href: str = ""
    text: str = ""


class Lane(NamedTuple):
    """One thing, and what became of it."""

    label: str
    bars: Sequence[Bar]
    href: str = ""


class Column(NamedTuple):
    """How many of something, from its start on."""

    start: datetime
    value: int
    title: str
    href: str = ""


def draw_lanes(lanes: Iterable[Lane], span: Span, caption: str) -> Markup:
    """One line per lane, and the time below."""
    drawn = Markup("").join(_draw_lane(lane, span) for lane in lanes)
    return Markup(
        '<div class="lanes" role="group" aria-label="{}">{}<div class="lane axis">'
        '<span class="lane-label"></span>{}</div></div>'
    ).format(caption, drawn, _draw_axis(span))


def draw_columns(columns: Sequence[Column], span: Span, width_s: float, caption: str) -> Markup:
    """Columns over time; the highest is as high as the drawing."""
    most = max((column.value for column in columns), default=0) or 1
    width = max(100 * width_s / max(span.seconds, 1) - 0.3, 0.3)
    drawn = Markup("").join(
        _link(
            Markup(
                '<rect class="c0" x="{:.3f}%" y="{:.1f}%" width="{:.3f}%" height="{:.1f}%">'
                "<title>{}</title></rect>"
            ).format(
                100 * span.share(column.start),
                100 - 94 * column.value / most,
                width,
                94 * column.value / most,
                column.title,
            ),
            column.href,
            column.title,
        )
        for column in columns
        if column.value
    )
    return Markup(
        '<div class="columns" role="group" aria-label="{}"><svg class="column-bars">{}</svg>'
        '{}<span class="most">max {}</span></div>'
    ).format(caption, drawn, _draw_axis(span), most)


def _draw_lane(lane: Lane, span: Span) -> Markup:
    bars = Markup("").join(_draw_bar(bar, span) for bar in _thin(lane.bars, span))
    label = (
        Markup('<a class="lane-label" href="{}" title="{}">{}</a>')
        if lane.href
        else Markup('<span class="lane-label">{2}</span>')
    )
    return Markup('<div class="lane">{}<svg class="lane-bars">{}</svg></div>').format(
        label.format(lane.href, lane.label, lane.label), bars
    )


def _draw_bar(bar: Bar, span: Span) -> Markup:
    left, right = span.share(bar.start), span.share(bar.end)
    width = max(right - left, _LEAST)
    rect = Markup(
        '<rect class="{}" x="{:.3f}%" width="{:.3f}%" y="1" height="16" rx="2">'
        "<title>{}</title></rect>"
    ).format(bar.tone, 100 * min(left, 1 - width), 100 * width, bar.title)
    if bar.text and width > _LETTER * min(len(bar.text), _LETTERS):
        # An svg of its own cuts the text off where the bar ends.
        rect += Markup(
            '<svg x="{:.3f}%" width="{:.3f}%"><text class="bar-text" x="5" y="13">{}</text></svg>'
        ).format(100 * left, 100 * width, bar.text)
    return _link(rect, bar.href, bar.title)


def _link(drawn: Markup, href: str, title: str) -> Markup:
    if not href:
        return drawn
    return Markup('<a href="{}" aria-label="{}">{}</a>').format(href, title, drawn)


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
        title = f"{len(small)} short periods, such as {worst.title}"
        yield worst._replace(start=small[0].start, end=small[-1].end, title=title)


def _draw_axis(span: Span) -> Markup:
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
