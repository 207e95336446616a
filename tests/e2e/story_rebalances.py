"""Holds the table rebalances to what the transaction log, the acts and the consumers say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.e2e.lake_past import Fact, LakePast, Row
from tests.e2e.theatre import RULES
from tests.reference.group_log import Seen
from tests.reference.rebalance_truth import Episode, Pace, tell_rebalances

_PACE = Pace(RULES.pace.quiet_ms, RULES.pace.fail_ms)
_COLUMNS = (
    *("outcome", "moved", "reacquired", "left_unowned", "members_before", "members_after"),
    *("partitions", "ended_by", "attempts", "trigger", "trigger_member_id"),
    *("trigger_topic", "triggers", "unowned_ms", "max_unowned_ms", "duration_ms"),
    *("valid_from_seq", "valid_from_at", "valid_to_seq", "valid_to_at"),
)
# By act: what it does in the group.
_STEPS = {
    "member_joined": "joined",
    "member_left": "left",
    "member_unregistered": "left",
    "owners_lost": "released",
}


def list_groups(facts: Iterable[Fact]) -> list[str]:
    """Of a story: those that ZooKeeper keeps."""
    return sorted({fact["group"] for fact in facts if fact["fact"] == "member_joined"})


def find_rebalances(past: LakePast, group_id: str) -> list[Row]:
    """Those of a group that ZooKeeper keeps."""
    return past.find("rebalances", coordinator="zookeeper", group_id=group_id)


def check_rebalances(
    rows: list[Row], log: list[Seen], facts: Iterable[Fact], group_id: str
) -> Iterator[str]:
    """What is wrong with the rows of one group; nothing when they are right."""
    episodes = tell_rebalances(log, group_id, _PACE)
    if len(rows) != len(episodes):
        found = [(row["valid_from_seq"], row["valid_to_seq"]) for row in rows]
        wanted = [(each.steps[0].seen.seq, each.end.seen.seq) for each in episodes]
        yield f"{len(rows)} rows, and {len(episodes)} rebalances: {found}, {wanted}"
        return
    for row, episode in zip(rows, episodes, strict=True):
        said, true = describe_row(row), describe_episode(episode)
        wrong = {name: (said[name], true[name]) for name in true if said[name] != true[name]}
        wrong |= dict(_find_wrong_conflicts(row, episode))
        if wrong:
            yield f"at {row['valid_from_at']} (said, true): {wrong}"
    for fact in facts:
        if fact["fact"] in _STEPS and fact["group"] == group_id:
            yield from _check_act(episodes, fact)


def describe_row(row: Row) -> Fact:
    """What must be the same on both sides."""
    return {name: row[name] for name in _COLUMNS} | {"unowned": dict(row["unowned"])}


def describe_episode(true: Episode) -> Fact:
    """The same, by the transaction log."""
    first, last, unowned = true.steps[0].seen, true.end.seen, true.unowned
    # The end is not before the begin, be it by two clocks.
    ended_ms = max(first.at_ms, last.at_ms)
    return {
        "outcome": true.outcome,
        "ended_by": true.outcome,
        "moved": true.moved,
        "reacquired": true.reacquired,
        "left_unowned": true.left_unowned,
        "members_before": len(true.before.members),
        "members_after": len(true.after.members),
        "partitions": len(true.after.find_expected(true.before)),
        "attempts": true.attempts,
        **_describe_triggers(true),
        "unowned": unowned,
        "unowned_ms": sum(unowned.values()),
        "max_unowned_ms": max(unowned.values(), default=0),
        "valid_from_seq": first.seq,
        "valid_from_at": first.at_ms,
        "valid_to_seq": last.seq,
        "valid_to_at": ended_ms,
        "duration_ms": ended_ms - first.at_ms,
    }


def _describe_triggers(true: Episode) -> Fact:
    first = true.steps[0]
    word = "owner_released" if first.what == "released" else "unknown"
    member, topic = first.member if word == "owner_released" else None, None
    triggers = true.triggers
    if triggers:
        word, member = triggers[0].word or word, triggers[0].member
        topic = None if triggers[0].what in ("released", "left") else triggers[0].topic
    words = list(dict.fromkeys(step.word for step in triggers)) or [word]
    return {
        "trigger": word,
        "trigger_member_id": member,
        "trigger_topic": topic,
        "triggers": words,
    }


def _find_wrong_conflicts(row: Row, true: Episode) -> Iterator[tuple[str, tuple[object, object]]]:
    """Releases bear no time: how long somebody waited is known only so well."""
    backoff_ms = RULES.pace.extra_round_ms
    least = true.count_conflicts(backoff_ms, is_late=True)
    most = true.count_conflicts(backoff_ms)
    if not least <= row["conflicts"] <= most:
        yield "conflicts", (row["conflicts"], (least, most))


def _check_act(episodes: list[Episode], fact: Fact) -> Iterator[str]:
    for step in (step for each in episodes for step in each.steps):
        is_it = step.what == _STEPS[fact["fact"]] and step.member in (fact["member_id"], None)
        if is_it and fact["from_ms"] <= step.ms <= fact["to_ms"]:
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
            if fact["from_ms"] <= row["valid_from_at"]
        ]
        # Whoever is met first has no generation before it.
        if len(found) != (fact["group"] in seen):
            yield f"{len(found)} rebalances by {fact}"
        yield from (f"{row}" for row in found if row["outcome"] != "settled")
        seen.add(fact["group"])


def falsify_rebalance(row: Row) -> Iterator[tuple[Row, Row]]:
    """The row, and it again with one column after the other spoilt."""
    for name, value in describe_row(row).items():
        if isinstance(value, int):
            yield row, {**row, name: value + 1}
        elif name not in ("triggers", "unowned"):
            yield row, {**row, name: "x"}
    yield row, {**row, "conflicts": row["conflicts"] + 99}
    yield row, {**row, "triggers": [*row["triggers"], "x"]}
    yield row, {**row, "unowned": {**dict(row["unowned"]), "x-0": 1}}
