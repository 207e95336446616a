from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.charts import Bar, Column, Lane, draw_columns, draw_lanes, list_ticks
from delta_tables.live.span import Span

NOW = datetime(2026, 11, 16, 12, 0, 30, tzinfo=UTC)
HOUR = Span(NOW - timedelta(hours=1), NOW)


@pytest.mark.parametrize("seconds", [5, 60, 900, 3600, 86_400, 30 * 86_400, 3 * 365 * 86_400])
def test_an_axis_has_a_few_round_times(seconds: int) -> None:
    ticks = list_ticks(Span(NOW - timedelta(seconds=seconds), NOW))
    assert 3 <= len(ticks) <= 7
    assert all(at.microsecond == 0 for at, _ in ticks)


def _bar(start: float, end: float, tone: str = "c0") -> Bar:
    at = HOUR.start
    return Bar(at + timedelta(minutes=start), at + timedelta(minutes=end), "<t>", tone, "/at?a=1&b")


def test_a_lane_stays_within_its_drawing_and_escapes_its_texts() -> None:
    drawn = str(draw_lanes([Lane("<i>", [_bar(-30, 30), _bar(45, 90)])], HOUR, "c"))
    assert 'x="0.000%" width="50.000%"' in drawn
    assert 'x="75.000%" width="25.000%"' in drawn
    assert "&lt;t&gt;" in drawn
    assert "<i>" not in drawn
    assert "/at?a=1&amp;b" in drawn


def test_what_is_short_is_seen_and_what_is_many_is_one() -> None:
    short = str(draw_lanes([Lane("l", [_bar(59.999, 60, "hole")])], HOUR, "c"))
    assert 'x="99.700%" width="0.300%"' in short
    many = [_bar(n / 6000, n / 6000 + 0.0001, "hole" if n == 7 else "c0") for n in range(60)]
    drawn = str(draw_lanes([Lane("l", many)], HOUR, "c"))
    assert drawn.count("<rect") == 1
    assert "60 short periods" in drawn
    assert 'class="hole"' in drawn


def test_columns_are_as_high_as_the_highest() -> None:
    columns = [Column(HOUR.start, 5, "five"), Column(HOUR.start + timedelta(minutes=30), 10, "ten")]
    drawn = str(draw_columns(columns, HOUR, 300, "c"))
    assert 'height="47.0%"' in drawn
    assert 'height="94.0%"' in drawn


def test_a_short_text_is_shown_whole_or_not_at_all() -> None:
    for minutes, is_shown in ((2, False), (5, True)):
        bar = _bar(10, 10 + minutes, "hole")._replace(text="nobody")
        drawn = str(draw_lanes([Lane("l", [bar])], HOUR, "c"))
        assert ("nobody</text>" in drawn) == is_shown
