"""The view unowned_time where a group no longer reads a topic, or was too large to be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.delta_tables.test_group_views import member, owner
from tests.delta_tables.view_lake import ask, at, pick, state

HOLES = "SELECT * FROM unowned_time ORDER BY unowned_from"


def test_nobody_reads_a_topic_that_was_dropped_from_the_subscription(tmp_path: Path) -> None:
    wild: dict[str, Any] = {"pattern": "white_list", "subscription": {".*": 1}}
    rows = {
        "consumer_membership": [
            member("g_a", 0, 5),
            member("g_a", 5, 20, subscription={"other": 1}),
            member("g_b", 8, 9, **wild),
            member("g_c", 20, subscription={"t": 1}),
        ],
        "ownership_history": [owner(0, "g_a-0", 1, 5), owner(0, "g_c-0", 21)],
    }
    (hole,) = ask(tmp_path, rows, HOLES)
    assert (hole["unowned_from"], hole["unowned_to"]) == (at(5), at(21))
    # But for the minute of the wildcard, and the last one.
    assert (hole["unowned_ms"], hole["nobody_ms"]) == (16 * 60_000, 14 * 60_000)


def test_a_group_that_was_too_large_to_be_told_is_no_hole(tmp_path: Path) -> None:
    key: dict[str, Any] = {"coordinator": "kafka", "group_id": "k", "topic": "t", "partition": 0}
    rows = {
        "consumer_membership": [member("a", 0, 5, coordinator="kafka", group_id="k")],
        "ownership_history": [
            state(1, 5, "unreadable", **key, owner="a"),
            state(7, 8, "deleted", **key, owner="a"),
            state(9, **key, owner="a"),
        ],
    }
    found = ask(tmp_path, rows, HOLES)
    assert pick(found, "unowned_from", "unowned_to") == [(at(8), at(9))]
