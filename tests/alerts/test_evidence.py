"""What people read of an incident's evidence."""

from __future__ import annotations

from typing import Any

import pytest

from alerts.evidence import format_evidence


@pytest.mark.parametrize(
    ("evidence", "phrase"),
    [
        ({}, ""),
        (
            {"status": "STALLED", "most_lag_of_a_partition": 16_200},
            "status STALLED, up to 16,200 records behind on one partition",
        ),
        (
            {"most_lag_seconds_of_a_partition": 1350.0},
            "up to 22 min 30 s behind on a partition",
        ),
        ({"lag": 1, "partitions": 2}, "1 record behind, on 2 partitions"),
        (
            {"rebalances": 5, "within_s": 600, "trigger": "session_ended"}
            | {"trigger_member_id": "readers_c"},
            "5 rebalances or more within 10 min, the last: session of readers_c ended",
        ),
        (
            {"changes": 3, "within_s": 60, "controller_before": None, "controller_id": 2}
            | {"controller_epoch": 7},
            "3 controller changes or more within 1 min, "
            "the last: broker 2 became controller, epoch 7",
        ),
        (
            {"ended_by": "session_ended", "exit": "crashed", "host": "kafka-2"},
            "session ended, crashed, on kafka-2",
        ),
        (
            {"missing": [2], "affected": 5, "some": ["a-0", "a-1", "a-2", "a-3", "a-4"]},
            "a-0, a-1, a-2 and 2 more, out of the ISR: broker 2",
        ),
        ({"last_leader": 3, "affected": 1, "some": ["a-0"]}, "a-0, last led by broker 3"),
        ({"note": "its end was not observed"}, "its end was not observed"),
        ({"something_new": 4}, "something new 4"),
    ],
)
def test_it_is_a_phrase(evidence: dict[str, Any], phrase: str) -> None:
    assert format_evidence(evidence) == phrase
