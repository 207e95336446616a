"""Holds a story's ground truth to ZooKeeper's transaction log.

Every act has its transactions within its time, every state is that of the tree replayed to its
time, and nothing of the kind that acts make happened without an act.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from tests.reference.past import Contradiction, Fact, Past, expect
from tests.reference.story_admin_truth import ADMIN_ACTS, ELECT, NUDGES, REASSIGN
from tests.reference.story_states import check_state
from tests.reference.tree import Change

# Messages and Kafka's own groups leave no trace in ZooKeeper.
UNTRACED = (
    "produced",
    "kafka_member_joined",
    "kafka_member_left",
    "kafka_member_stalled",
    "kafka_offsets_committed",
)
# The least that a lost session takes to expire: its timeout less the age of the last ping.
_EXPIRY_MS = 1_000


def find_contradictions(facts: Iterable[Fact], changes: Iterable[Change]) -> list[str]:
    """What the log holds against the truth of one story; empty when they agree."""
    told, past, found = list(facts), Past(changes), []
    claimed: list[Change] = []
    for fact in told:
        try:
            if fact["kind"] == "act":
                claimed += ACTS[fact["fact"]](past, fact)
            else:
                check_state(past, fact)
        except Contradiction as error:
            found.append(f"{fact['n']} {fact['fact']}: {error}")
    if told:
        found += [f"no act explains {change}" for change in _find_unclaimed(past, told, claimed)]
    return found


def _find_unclaimed(past: Past, facts: list[Fact], claimed: list[Change]) -> Iterator[Change]:
    """Creates and deletes that only acts can cause, and none did."""
    own = re.escape(f"{facts[0]['story']}-{facts[0]['seed']}-")
    by_act = re.compile(
        rf"/brokers/ids/\d+|/brokers/topics/{own}[^/]+|/consumers/{own}[^/]+/ids/.+"
        rf"|/admin/delete_topics/{own}.+|{REASSIGN}|{ELECT}|{NUDGES}/.+"
    )
    known = {(change.zxid, change.index_in_txn) for change in claimed}
    first_ms, last_ms = facts[0]["from_ms"], max(fact["to_ms"] for fact in facts)
    for change in past.changes:
        if first_ms <= change.time_ms <= last_ms and by_act.fullmatch(change.path):
            is_known = (change.zxid, change.index_in_txn) in known
            if change.op in ("create", "delete") and not is_known:
                yield change


def _broker_left(past: Past, fact: Fact) -> list[Change]:
    end = past.only(fact, "delete", f"/brokers/ids/{fact['broker_id']}")
    expect(end.session_close, "the registration went with its session")
    ruled = past.json_at("/controller", fact["from_ms"])["brokerid"] == fact["broker_id"]
    if fact["fact"] == "broker_killed" and ruled:
        fallen = past.between("/controller", fact["from_ms"], fact["to_ms"], "delete")
        expect(end.zxid in [one.zxid for one in fallen], "/controller went in the same zxid")
    return [end]


def _broker_started(past: Past, fact: Fact) -> list[Change]:
    return [past.only(fact, "create", f"/brokers/ids/{fact['broker_id']}")]


def _controller_deposed(past: Past, fact: Fact) -> list[Change]:
    fall = past.only(fact, "delete", "/controller")
    rise = past.only(fact, "create", "/controller")
    expect(not fall.session_close and fall.zxid < rise.zxid, "deleted by hand, then elected")
    epoch = past.only(fact, "set", "/controller_epoch")
    expect(epoch.zxid == rise.zxid, "the epoch moved with the election")
    return []


def _member_joined(past: Past, fact: Fact) -> list[Change]:
    path = f"/consumers/{fact['group']}/ids/{fact['member_id']}"
    birth = past.only(fact, "create", path)
    expect(birth.ephemeral_owner != 0, "the registration is ephemeral")
    expect(birth.json["subscription"] == fact["subscription"], "it subscribed to this")
    return [birth]


def _member_left(past: Past, fact: Fact) -> list[Change]:
    path = f"/consumers/{fact['group']}/ids/{fact['member_id']}"
    end = past.only(fact, "delete", path)
    expect(end.session_close, "the registration went with its session")
    began_ms: int = fact["killed_ms"] if "killed_ms" in fact else fact["from_ms"]
    took_ms = end.time_ms - began_ms
    expect(fact["how"] == "stop" or took_ms >= _EXPIRY_MS, f"it expired, {took_ms} ms later")
    owners = f"/consumers/{fact['group']}/owners"
    for topic in past.children_at(owners, end.time_ms):
        for partition in past.children_at(f"{owners}/{topic}", end.time_ms):
            owner = past.at(f"{owners}/{topic}/{partition}", end.time_ms)
            outlives = owner and owner.ephemeral_owner == end.ephemeral_owner
            expect(not outlives, f"what it owned of {topic} went too: {partition}")
    return [end]


def _member_killed(past: Past, fact: Fact) -> list[Change]:
    for ms in (fact["from_ms"], fact["to_ms"]):
        stands = past.at(f"/consumers/{fact['group']}/ids/{fact['member_id']}", ms)
        expect(stands is not None, "nobody knows of it until the session expires")
    return []


def _member_unregistered(past: Past, fact: Fact) -> list[Change]:
    end = past.only(fact, "delete", f"/consumers/{fact['group']}/ids/{fact['member_id']}")
    expect(not end.session_close, "deleted by hand")
    return [end]


def _owners_claimed(past: Past, fact: Fact) -> list[Change]:
    for path in _list_owners(fact):
        claim = past.only(fact, "create", path)
        expect(claim.data == f"{fact['member_id']}-0".encode(), f"{path} names it")
        expect(claim.ephemeral_owner != 0, f"{path} is ephemeral")
    return []


def _owners_lost(past: Past, fact: Fact) -> list[Change]:
    for path in _list_owners(fact):
        expect(past.only(fact, "delete", path).session_close, f"{path} went with its session")
    return []


def _list_owners(fact: Fact) -> list[str]:
    parent = f"/consumers/{fact['group']}/owners/{fact['topic']}"
    return [f"{parent}/{partition}" for partition in fact["partitions"]]


def _offsets_rewound(past: Past, fact: Fact) -> list[Change]:
    for partition, offset in fact["offsets"].items():
        path = f"/consumers/{fact['group']}/offsets/{fact['topic']}/{partition}"
        before, after = past.at(path, fact["from_ms"] - 1), past.only(fact, "set", path)
        expect(int(after.data or b"-1") == offset, f"partition {partition} was set to {offset}")
        was = int(before.data or b"-1") if before else -1
        expect(was > offset, f"partition {partition} went back from {was}")
    return []


def _untraced(past: Past, fact: Fact) -> list[Change]:
    return []


ACTS: Mapping[str, Callable[[Past, Fact], list[Change]]] = {
    "broker_stopped": _broker_left,
    "broker_killed": _broker_left,
    "broker_started": _broker_started,
    "controller_deposed": _controller_deposed,
    **ADMIN_ACTS,
    **dict.fromkeys(UNTRACED, _untraced),
    "member_joined": _member_joined,
    "member_left": _member_left,
    "member_killed": _member_killed,
    "member_unregistered": _member_unregistered,
    "owners_claimed": _owners_claimed,
    "owners_lost": _owners_lost,
    "offsets_rewound": _offsets_rewound,
}
