from __future__ import annotations

from pathlib import Path

from tests.hostile import http_attempts, sql_attempts
from tests.hostile.listing import count_classes, write_table

SECURITY = Path(__file__).parents[2] / "SECURITY.md"


def test_the_table_of_attempts_is_that_of_the_tests() -> None:
    """Else: `python -m tests.hostile.listing`, into SECURITY.md."""
    assert write_table() in SECURITY.read_text()
    assert sum(count_classes().values()) >= 600


def test_no_attempt_counts_twice() -> None:
    for attempts in (sql_attempts.ATTEMPTS, http_attempts.ATTEMPTS):
        assert len({attempt.text for attempt in attempts}) == len(attempts)
