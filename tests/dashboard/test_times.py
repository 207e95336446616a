from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.times import read_span, write_duration, write_time
from zklake.errors import QueryError

NOW = datetime(2026, 11, 16, 12, 0, 30, tzinfo=UTC)


def test_a_range_that_moves_with_the_clock_asks_the_same_for_a_minute() -> None:
    first, later = (read_span({"last": "15m"}, NOW + timedelta(seconds=s)) for s in (0, 20))
    assert first.end != later.end
    assert first.write_overlap() == later.write_overlap()
    assert first.params == {"last": "15m"}


def test_a_range_with_an_end_is_kept_as_it_is() -> None:
    span = read_span({"from": "-2h", "to": "2026-11-16T11:00Z"}, NOW)
    assert (span.start, span.end) == (
        NOW - timedelta(hours=2),
        datetime(2026, 11, 16, 11, tzinfo=UTC),
    )
    assert read_span(span.params, NOW + timedelta(days=3)) == span
    assert "2026-11-16T11:00:00" in span.write_within("at")


@pytest.mark.parametrize("last", ["0m", "1y", "-1h", "h", "999999h", "1h; DROP"])
def test_what_is_no_range_is_refused(last: str) -> None:
    with pytest.raises(QueryError, match="Use a number and a unit: 15m"):
        read_span({"last": last}, NOW)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.25, "250 ms"),
        (1.44, "1.4 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (7201, "2 h"),
        (4 * 86_400 + 3 * 3600 + 5, "4 d 3 h"),
        (-5, "−5 s"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float | None, text: str) -> None:
    assert write_duration(seconds) == text


def test_times_are_written_to_the_millisecond() -> None:
    assert write_time(NOW) == "2026-11-16T12:00:30Z"
    assert write_time(NOW.replace(microsecond=250_000)) == "2026-11-16T12:00:30.250Z"
