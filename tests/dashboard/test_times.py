from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.times import read_span
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
