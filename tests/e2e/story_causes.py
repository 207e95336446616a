"""Why the lag of a story's group rose: what the view root_cause must name first."""

from __future__ import annotations

from typing import NamedTuple

from tests.e2e.lake_past import Fact, Row
from tests.e2e.told import ms


class Cause(NamedTuple):
    """What it was, and which fact tells whose doing."""

    cause: str
    coordinator: str = "zookeeper"
    group: str = "readers"
    # The act of the member that is named, if one is.
    member_of: str | None = None
    # Rises that were over before this act are of no interest.
    since: str | None = None


# By story. In the others nobody falls behind for longer than between two looks.
CAUSES: dict[str, Cause] = {
    "consumer-crash": Cause("member_lost", member_of="member_killed"),
    "offset-rewind": Cause("offsets_rewound"),
    "stuck-consumer": Cause("consumer_stalled"),
    "slow-consumer": Cause("producer"),
    "zombie-member": Cause("rebalance_failed"),
    "kafka-group": Cause(
        "consumer_stalled", "kafka", "kafka-readers", since="kafka_member_stalled"
    ),
}


def find_first_cause(rows: list[Row], facts: list[Fact], wanted: Cause) -> Row:
    """Of the largest rise of the story's group; empty: it never rose."""
    group_id = f"{facts[0]['story']}-{facts[0]['seed']}-{wanted.group}"
    since_ms = min(f["from_ms"] for f in facts if wanted.since in (None, f["fact"]))
    mine = [
        row
        for row in rows
        if (row["group_id"], row["coordinator"], row["rank"]) == (group_id, wanted.coordinator, 1)
        and ms(row["rise_to"]) >= since_ms
    ]
    return max(mine, key=lambda row: int(row["added"]), default={})


def name_entity(facts: list[Fact], wanted: Cause) -> str | None:
    """What the cause must be of; None: whatever."""
    for fact in facts:
        if fact["fact"] == wanted.member_of:
            return f"member {fact['member_id']}"
    return None
