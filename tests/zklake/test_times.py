from __future__ import annotations

from datetime import UTC, datetime

import pytest

from zklake.times import write_duration, write_time

NOW = datetime(2026, 11, 16, 12, 0, 30, tzinfo=UTC)


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
