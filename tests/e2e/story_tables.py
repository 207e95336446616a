"""Holds a story's ground truth to the Delta tables.

Every act begins or ends its rows within its time, every state is that of the rows of its time, and
nothing of the kind that acts make began or ended without an act.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.e2e.lake_past import GONE, LATE_MS, Fact, LakePast, Row
from tests.e2e.story_table_acts import ACTS
from tests.e2e.story_table_lag import check_lag
from tests.e2e.story_table_states import check_state
from tests.reference.past import Contradiction

# Messages have no table, nor has what a member does not do.
UNTOLD = ("produced", "member_killed", "kafka_member_stalled")
_LIVES = (
    "broker_membership",
    "topics",
    "consumer_membership",
    "admin_operations",
    "config_history",
)


def find_contradictions(facts: Iterable[Fact], past: LakePast) -> list[str]:
    """What the tables hold against the truth of one story; empty when they agree."""
    told, found = list(facts), []
    explained: set[int] = set()
    for fact in told:
        try:
            explained.update(check_fact(past, fact))
        except Contradiction as error:
            found.append(f"{fact['n']} {fact['fact']}: {error}")
    return found + [f"no act explains {what}" for what in _find_unexplained(past, told, explained)]


def check_fact(past: LakePast, fact: Fact) -> list[int]:
    """Raise when the tables do not bear it out; returns the seqs of the events it explains."""
    if fact["fact"] in UNTOLD:
        return []
    if fact["kind"] == "act":
        return ACTS[fact["fact"]](past, fact)
    check = check_lag if fact["fact"] == "lag_is" else check_state
    check(past, fact)
    return []


def is_found_out(lie: Fact, past: LakePast) -> bool:
    """Whether the tables contradict it."""
    try:
        check_fact(past, lie)
    except Contradiction:
        return True
    return False


def _find_unexplained(past: LakePast, facts: list[Fact], explained: set[int]) -> Iterator[str]:
    """Begins and ends of lives that only acts can cause, and none did."""
    first_ms, last_ms = facts[0]["from_ms"], max(fact["to_ms"] for fact in facts)
    for table, row in _list_lives(past, f"{facts[0]['story']}-{facts[0]['seed']}-"):
        began = row["is_birth"], row["valid_from_seq"], row["valid_from_at"]
        ended = row["ended_by"] in GONE, row["valid_to_seq"], row["valid_to_at"]
        for word, (is_meant, seq, ms) in (("begin", began), ("end", ended)):
            if is_meant and first_ms <= ms <= last_ms + LATE_MS and seq not in explained:
                yield f"the {word} at {ms} of {table} {row}"


def _list_lives(past: LakePast, own: str) -> Iterator[tuple[str, Row]]:
    for table in _LIVES:
        for row in past.find(table):
            # Brokers and requests that nobody could read bear no name of a story.
            entity = None if row.get("entity_type") == "brokers" else row.get("entity_name")
            name = row.get("group_id") or row.get("topic") or entity or own
            if str(name).startswith(own):
                yield table, row
