"""Which status the partitions of a story's groups must have had, from which act to which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.e2e.lake_past import Fact, LakePast, Row
from tests.e2e.story_table_lag import SEEN_MS
from tests.e2e.theatre import THRESHOLDS
from tests.reference.past import expect

STATUSES = ("OK", "WARN", "STALLED", "STOPPED", "REWIND", "UNOWNED", "ABANDONED")
_AFTER_MS = {
    "STALLED": THRESHOLDS.stalled_after_ms,
    "WARN": THRESHOLDS.warn_after_ms,
    "UNOWNED": THRESHOLDS.unowned_after_ms,
    "ABANDONED": THRESHOLDS.abandoned_after_ms,
}
# A consumer hears of a new member, lets go, and its release is seen.
_RELEASE_MS = 2_000
_AWAY_MS = 15_000


class Edge(NamedTuple):
    """The n-th fact of that name; what follows from it may take so long to be seen."""

    fact: str
    number: int = 0
    late_ms: int = SEEN_MS


class Spell(NamedTuple):
    """A status that the group's partitions get by one act, and lose by another."""

    status: str
    since: Edge
    until: Edge
    group: str = "readers"
    coordinator: str = "zookeeper"
    # None: those that were behind when somebody looked.
    partitions: tuple[int, ...] | None = None
    # What led to it may have begun with this fact already.
    earliest: Edge | None = None


# By story. What is not told here was too short for a look a second.
SPELLS: dict[str, tuple[Spell, ...]] = {
    "offset-rewind": (Spell("REWIND", Edge("offsets_rewound", 0, 0), Edge("offsets_are", 2)),),
    "stuck-consumer": (Spell("STALLED", Edge("produced", 1), Edge("member_left", 1)),),
    "slow-consumer": (
        Spell("WARN", Edge("lag_is", 0), Edge("member_left", 0)),
        Spell("STOPPED", Edge("member_left", 0), Edge("member_joined", 1)),
    ),
    "zombie-member": (
        Spell(
            "UNOWNED",
            Edge("member_joined", 1, _RELEASE_MS),
            Edge("owners_claimed"),
            partitions=(2, 3),
        ),
    ),
    "kafka-group": (
        # A round may have come before the commits of what was read first.
        Spell(
            "STALLED",
            Edge("produced", 1),
            Edge("kafka_member_left"),
            "kafka-readers",
            "kafka",
            earliest=Edge("produced", 0),
        ),
    ),
}


def check_spell(past: LakePast, facts: list[Fact], spell: Spell) -> None:
    """Raise unless each of the partitions had that status in that time, and only then."""
    since, until = _find(facts, spell.since), _find(facts, spell.until)
    since = {**since, "from_ms": _find(facts, spell.earliest or spell.since)["from_ms"]}
    group_id = f"{facts[0]['story']}-{facts[0]['seed']}-{spell.group}"
    rows = past.find("offset_lag", coordinator=spell.coordinator, group_id=group_id)
    found = {
        partition: _find_run(rows, partition, spell.status, since, spell.since.late_ms)
        for partition in _list_partitions(facts, spell, group_id)
    }
    expect(bool(found), f"{group_id} has partitions")
    for partition, run in found.items():
        what = f"{spell.status} of {group_id} {partition}"
        expect(bool(run), f"{what} since {since['from_ms']}")
        expect(_is_due(run[0]), f"{what} was due then: {run[0]}")
        ended = run[-1]["valid_to_at"]
        expect(ended is not None, f"{what} has an end")
        latest = until["to_ms"] + spell.until.late_ms
        expect(until["from_ms"] - SEEN_MS <= ended <= latest, f"{what} ended at {ended}")


def _find(facts: list[Fact], edge: Edge) -> Fact:
    return [fact for fact in facts if fact["fact"] == edge.fact][edge.number]


def _list_partitions(facts: list[Fact], spell: Spell, group_id: str) -> list[int]:
    """Those named; else those that were behind when somebody looked."""
    if spell.partitions is not None:
        return [*spell.partitions]
    behind = [
        fact["lag"]
        for fact in facts
        if (fact["fact"], fact.get("group")) == ("lag_is", group_id) and any(fact["lag"].values())
    ]
    return [int(partition) for partition, lag in behind[0].items() if lag]


def _find_run(rows: list[Row], partition: int, status: str, since: Fact, late_ms: int) -> list[Row]:
    """The rows of one spell, one after the other without a break."""
    run: list[Row] = []
    for row in rows:
        if row["partition"] != partition:
            continue
        if row["status"] == status and (run or _is_in(row["status_since"], since, late_ms)):
            run.append(row)
        elif run:
            break
    return run


def _is_in(ms: int, fact: Fact, late_ms: int) -> bool:
    return bool(fact["from_ms"] <= ms <= fact["to_ms"] + late_ms)


def _is_due(first: Row) -> bool:
    """The status came once its cause had held for long enough, at the next look."""
    due_ms = first["status_since"] + _AFTER_MS.get(first["status"], 0)
    return bool(0 <= first["valid_from_at"] - due_ms <= SEEN_MS)


def find_wrong_ends(past: LakePast, facts: list[Fact], last_ms: int) -> Iterator[str]:
    """Groups that were left long enough ago must be ABANDONED since then."""
    left = {fact["group"]: fact for fact in facts if fact["fact"] == "member_left"}
    for group_id, fact in left.items():
        rows = past.find("offset_lag", group_id=group_id, coordinator="zookeeper")
        if fact["to_ms"] + THRESHOLDS.abandoned_after_ms + SEEN_MS > last_ms:
            continue
        # Without a commit there is nothing to be behind with once the owner is gone.
        for partition in sorted({row["partition"] for row in rows if row["is_open"]}):
            run = _find_run(rows, partition, "ABANDONED", fact, SEEN_MS)
            if not run or not run[-1]["is_open"]:
                yield f"{group_id} {partition} was left at {fact['to_ms']}, and is not ABANDONED"
            elif not _is_due(run[0]) and not _is_broker_away(past, run[0]):
                yield f"{group_id} {partition} is ABANDONED since {run[0]['valid_from_at']}"


def _is_broker_away(past: LakePast, first: Row) -> bool:
    """Nothing is said of partitions whose leader does not answer; a new one takes its time."""
    due_ms = first["status_since"] + _AFTER_MS[first["status"]]
    return any(
        row["valid_to_at"] <= first["valid_from_at"] and row["valid_to_at"] + _AWAY_MS >= due_ms
        for row in past.find("broker_membership")
        if not row["is_open"]
    )


def find_wrong_numbers(past: LakePast) -> Iterator[str]:
    """Lags that are not what their own row says, of whatever story."""
    for row in past.find("offset_lag"):
        end, committed = row["log_end_offset"], row["committed_offset"]
        if row["lag"] is None:
            is_right = row["reason"] is not None and row["raw_lag"] is None
        else:
            is_right = row["raw_lag"] == end - committed and row["lag"] == max(0, row["raw_lag"])
        if not is_right:
            yield str(row)
