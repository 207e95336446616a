"""Holds the table rebalances to what the transaction log, the acts and the consumers say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.e2e.lake_past import LATE_MS, Fact, LakePast, Row
from tests.e2e.theatre import RULES
from tests.reference.rebalance_truth import Episode, Pace, tell_rebalances
from tests.reference.tree import Change

# Deletes bear no time: a pause between two events is known only so well.
_PACE = Pace(RULES.pace.quiet_ms, RULES.pace.fail_ms, doubt_ms=LATE_MS)
_WAIT_MS = 200
# Times are known within one heartbeat.
BEAT_MS = 1_000
# By act: what it triggers in the group.
_WORDS = {
    "member_joined": "member_joined",
    "member_left": "session_expired",
    "member_unregistered": "member_left",
    "owners_lost": "session_expired",
}


def list_groups(facts: Iterable[Fact]) -> list[str]:
    """Of a story: those that ZooKeeper keeps."""
    return sorted({fact["group"] for fact in facts if fact["fact"] == "member_joined"})


def pick_changes(changes: Iterable[Change], group_id: str) -> list[Change]:
    """Those that can concern a group."""
    below = (f"/consumers/{group_id}/", "/brokers/topics/")
    return [change for change in changes if change.path.startswith(below)]


def find_rebalances(past: LakePast, group_id: str) -> list[Row]:
    """Those of a group that ZooKeeper keeps."""
    return past.find("rebalances", coordinator="zookeeper", group_id=group_id)


def find_unseen(past: LakePast, group_id: str) -> list[int]:
    """The seq of every claim that was gone before it could be read: whose it was, nobody saw."""
    owner = {"coordinator": "zookeeper", "group_id": group_id, "session": None}
    return [row["valid_from_seq"] for row in past.find("ownership_history", **owner)]


def check_rebalances(
    rows: list[Row],
    changes: Iterable[Change],
    facts: Iterable[Fact],
    group_id: str,
    unseen_seqs: list[int],
) -> Iterator[str]:
    """What is wrong with the rows of one group; nothing when they are right."""
    begins = [row["valid_from_at"] for row in rows]
    episodes = tell_rebalances(
        changes, group_id, _PACE, lambda ms: any(0 <= one - ms <= BEAT_MS for one in begins)
    )
    if len(rows) != len(episodes):
        times = [(each.steps[0].ms, each.end_ms) for each in episodes]
        yield f"{len(rows)} rows, and {len(episodes)} rebalances: {begins}, {times}"
        return
    for row, episode in zip(rows, episodes, strict=True):
        said, true = describe_row(row), describe_episode(episode)
        wrong = {name: (said[name], true[name]) for name in true if said[name] != true[name]}
        wrong |= dict(_find_wrong_times(row, episode))
        wrong |= dict(_find_wrong_trigger(row, episode))
        unseen = sum(row["valid_from_seq"] <= seq <= row["valid_to_seq"] for seq in unseen_seqs)
        wrong |= dict(_find_wrong_tries(row, episode, unseen))
        if wrong:
            yield f"at {row['valid_from_at']} (said, true): {wrong}"
    for fact in facts:
        if fact["fact"] in _WORDS and fact["group"] == group_id:
            yield from _check_act(rows, fact)


def describe_row(row: Row) -> Fact:
    """What must be the same on both sides."""
    names = ("outcome", "moved", "reacquired", "left_unowned")
    counted = {name: row[name] for name in names}
    members = {"members_before": row["members_before"], "members_after": row["members_after"]}
    return {**counted, **members, "partitions": row["partitions"], "ended_by": row["ended_by"]}


def describe_episode(true: Episode) -> Fact:
    """The same, by the transaction log."""
    return {
        "outcome": true.outcome,
        "ended_by": true.outcome,
        "moved": true.moved,
        "reacquired": true.reacquired,
        "left_unowned": true.left_unowned,
        "members_before": len(true.before.members),
        "members_after": len(true.after.members),
        "partitions": len(true.after.expected),
    }


def _find_wrong_trigger(row: Row, true: Episode) -> Iterator[tuple[str, tuple[object, object]]]:
    triggers = true.triggers
    words = {step.word for step in triggers}
    if not words:
        released = true.steps[0].what == "released"
        words = {"owner_released" if released else "unknown"}
    # What came at the same time may have been seen in any order.
    first = [step for step in triggers if step.ms - triggers[0].ms <= BEAT_MS]
    if set(row["triggers"]) != words or row["trigger"] != row["triggers"][0]:
        yield "triggers", (row["triggers"], words)
    named = {(step.word, step.member, step.topic if not step.member else None) for step in first}
    said = (row["trigger"], row["trigger_member_id"], row["trigger_topic"])
    if triggers and said not in named:
        yield "trigger", (said, named)


def _find_wrong_tries(
    row: Row, true: Episode, unseen: int
) -> Iterator[tuple[str, tuple[object, object]]]:
    """Whether somebody waited is known only so well; the lab's consumers wait for half a second."""
    if not true.attempts - unseen <= row["attempts"] <= true.attempts:
        yield "attempts", (row["attempts"], (true.attempts, unseen))
    backoff_ms = RULES.pace.extra_round_ms
    least = true.count_conflicts(backoff_ms + _WAIT_MS)
    most = true.count_conflicts(backoff_ms - _WAIT_MS)
    if not least - unseen <= row["conflicts"] <= most:
        yield "conflicts", (row["conflicts"], (least, most, unseen))


def _find_wrong_times(row: Row, true: Episode) -> Iterator[tuple[str, tuple[object, object]]]:
    for name, ms in (("valid_from_at", true.steps[0].ms), ("valid_to_at", true.end_ms)):
        if not 0 <= row[name] - ms <= BEAT_MS:
            yield name, (row[name], ms)
    if row["duration_ms"] != row["valid_to_at"] - row["valid_from_at"]:
        yield "duration_ms", (row["duration_ms"], "the difference of its times")
    said, right = dict(row["unowned"]), true.unowned
    # A release is seen late, so the table says less.
    off = {p: right.get(p, 0) - said.get(p, 0) for p in {*said, *right}}
    if any(not -BEAT_MS <= ms <= BEAT_MS for ms in off.values()):
        yield "unowned", (said, right)
    if (row["unowned_ms"], row["max_unowned_ms"]) != (
        sum(said.values()),
        max(said.values(), default=0),
    ):
        yield "unowned_ms", (row["unowned_ms"], said)


def _check_act(rows: list[Row], fact: Fact) -> Iterator[str]:
    for row in rows:
        meets = row["valid_from_at"] <= fact["to_ms"] + BEAT_MS
        meets &= row["valid_to_at"] + BEAT_MS >= fact["from_ms"]
        if meets and _WORDS[fact["fact"]] in row["triggers"]:
            return
    yield f"no rebalance by {fact}"


def check_kafka_rebalances(past: LakePast, facts: list[Fact]) -> Iterator[str]:
    """Every member that came or left a group of Kafka's, but the first, led to a generation."""
    seen: set[str] = set()
    for fact in facts:
        word = fact["fact"].removeprefix("kafka_")
        if word not in ("member_joined", "member_left") or word == fact["fact"]:
            continue
        group = {"coordinator": "kafka", "group_id": fact["group"]}
        who = {"trigger": word, "trigger_member_id": fact["member_id"]}
        found = [
            row
            for row in past.find("rebalances", **group, **who)
            if fact["from_ms"] <= row["valid_from_at"] <= fact["to_ms"] + BEAT_MS
        ]
        # Whoever is met first has no generation before it.
        if len(found) != (fact["group"] in seen):
            yield f"{len(found)} rebalances by {fact}"
        yield from (f"{row}" for row in found if row["outcome"] != "settled")
        seen.add(fact["group"])


def falsify_rebalance(row: Row) -> Iterator[tuple[Row, Row]]:
    """The row, and it again with one column after the other spoilt."""
    counted = [name for name, value in describe_row(row).items() if isinstance(value, int)]
    times = ("valid_from_at", "valid_to_at", "unowned_ms", "max_unowned_ms", "duration_ms")
    for name in (*counted, *times):
        yield row, {**row, name: row[name] + (1 if name in counted else 10 * BEAT_MS)}
    for name in ("attempts", "conflicts"):
        yield row, {**row, name: row[name] + 99}
    for name in ("trigger", "trigger_member_id", "trigger_topic", "outcome"):
        yield row, {**row, name: "x"}
    yield row, {**row, "triggers": [*row["triggers"], "x"]}
    longer = {**dict(row["unowned"]), "x-0": 10 * BEAT_MS}
    yield row, {**row, "unowned": longer, "unowned_ms": row["unowned_ms"] + 10 * BEAT_MS}
