"""A truth that the log bears out, and lies about it: the checker must know each of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reference.history import History
from tests.reference.story_truth import find_contradictions

TOPIC = "/brokers/topics/day-1-orders"
STATE = f"{TOPIC}/partitions/0/state"
CONFIG = "/config/brokers/1"
GROUP = "/consumers/day-1-readers"


def write_json(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


class Chronicler:
    """Grows a log and writes the truth about it; a transaction's time is its zxid."""

    def __init__(self) -> None:
        self.history = History()
        self.facts: list[dict[str, Any]] = []
        self._noted = self.history.zxid

    def note(self, kind: str, fact: str, **fields: Any) -> None:
        """Since the last note, until now."""
        head = {"story": "day", "seed": 1, "n": len(self.facts), "kind": kind, "fact": fact}
        times = {"from_ms": self._noted + 1, "to_ms": self.history.zxid}
        if kind == "state":
            times["from_ms"] = times["to_ms"] = self.history.zxid
        self.facts.append({**head, **times, **fields})
        self._noted = self.history.zxid


def tell_day() -> Chronicler:
    day = Chronicler()
    for path in ("/brokers", "/brokers/ids", "/brokers/topics", "/consumers", GROUP):
        day.history.create(path)
    for path in (f"{GROUP}/ids", f"{GROUP}/owners", f"{GROUP}/owners/day-1-orders"):
        day.history.create(path)
    day.history.create("/controller", write_json(brokerid=2))
    day._noted = day.history.zxid
    day.history.create("/brokers/ids/1", session=7)
    day.note("act", "broker_started", broker_id=1)
    day.history.create("/brokers/topics/day-1-orders", write_json(partitions={"0": [1, 2]}))
    day.history.create("/brokers/topics/day-1-orders/partitions")
    day.history.create("/brokers/topics/day-1-orders/partitions/0")
    day.history.create(STATE, write_json(leader=1, isr=[1, 2]))
    day.note("act", "topic_created", topic="day-1-orders", replicas={"0": [1, 2]})
    one = {"leader": 1, "isr": [1, 2], "replicas": [1, 2]}
    day.note("state", "leaders_are", topic="day-1-orders", partitions={"0": one})
    move(day, [1, 2], [3, 2], adding=[3], removing=[1])
    alter_config(day)
    day.history.create(f"{GROUP}/ids/m", write_json(subscription={"day-1-orders": 1}), session=8)
    day.history.create(f"{GROUP}/owners/day-1-orders/0", b"m-0", session=8)
    about = {"group": "day-1-readers", "member_id": "m"}
    day.note("act", "member_joined", **about, subscription={"day-1-orders": 1})
    owners = {"members": ["m"], "owners": {"0": "m-0"}}
    day.note("state", "owners_are", group="day-1-readers", topic="day-1-orders", **owners)
    day.history.close_session(8)
    day.note("act", "member_left", **about, how="stop")
    day.history.close_session(7)
    day.note("act", "broker_killed", broker_id=1)
    day.note("state", "brokers_are", broker_ids=[])
    return day


def move(
    day: Chronicler, before: list[int], after: list[int], adding: list[int], removing: list[int]
) -> None:
    """As the API of 2.4+ does it: nothing under /admin."""
    moving = [*after, *(one for one in before if one not in after)]
    for replicas, comes, goes in ((moving, {"0": adding}, {"0": removing}), (after, {}, {})):
        written = write_json(
            partitions={"0": replicas}, adding_replicas=comes, removing_replicas=goes
        )
        day.history.set(TOPIC, written)
    day.note("act", "reassigned", topic="day-1-orders", partition=0, replicas=after, by="api")


def alter_config(day: Chronicler) -> None:
    """One override stays, one is set, one goes, one is a secret."""
    for path in ("/config", "/config/brokers", "/config/changes"):
        day.history.create(path)
    day.history.create(CONFIG, write_json(config={"stays": "1", "goes": "2"}))
    day._noted = day.history.zxid
    config = {"stays": "1", "comes": "3", "x.password": "c2FtcGxl"}
    day.history.set(CONFIG, write_json(config=config))
    nudge = write_json(version=1, entity_type="brokers", entity_name="1")
    day.history.create("/config/changes/config_change_0000000000", nudge)
    about = {"entity_type": "brokers", "entity": "1"}
    changes = {"comes": "3", "goes": None, "x.password": "sesame"}
    day.note("act", "config_altered", **about, changes=changes, by="znode")
    day.note("state", "config_is", **about, config={**config, "x.password": None})


def check(day: Chronicler) -> list[str]:
    return find_contradictions(day.facts, day.history.changes)


def find(day: Chronicler, fact: str) -> dict[str, Any]:
    return next(one for one in day.facts if one["fact"] == fact)


def test_the_truth_passes() -> None:
    assert check(tell_day()) == []


@pytest.mark.parametrize(
    ("fact", "lie"),
    [
        ("broker_started", {"broker_id": 2}),
        ("topic_created", {"replicas": {"0": [2, 1]}}),
        ("leaders_are", {"partitions": {"0": {"leader": 2, "isr": [1, 2], "replicas": [1, 2]}}}),
        ("leaders_are", {"partitions": {"0": {"leader": 1, "isr": [1], "replicas": [1, 2]}}}),
        ("leaders_are", {"partitions": {}}),
        ("member_joined", {"member_id": "n"}),
        ("member_joined", {"subscription": {"day-1-orders": 2}}),
        ("owners_are", {"owners": {"0": "n-0"}}),
        ("owners_are", {"members": []}),
        ("member_left", {"to_ms": 0}),
        ("member_left", {"how": "crash"}),  # it went at once
        ("broker_killed", {"from_ms": 2**40}),
        ("brokers_are", {"broker_ids": [1]}),
        ("reassigned", {"replicas": [2, 3]}),
        ("reassigned", {"by": "znode"}),  # then there were a request
        ("config_altered", {"changes": {"comes": "3", "goes": None}}),
        ("config_altered", {"changes": {"comes": "4", "goes": None, "x.password": "sesame"}}),
        ("config_altered", {"changes": {"comes": "3", "goes": "2", "x.password": "sesame"}}),
        ("config_altered", {"changes": {"comes": "3", "goes": None, "x.password": "c2FtcGxl"}}),
        ("config_altered", {"entity": "2"}),
        ("config_is", {"config": {"stays": "1", "comes": "3"}}),
        ("config_is", {"entity_type": "topics"}),
    ],
)
def test_a_lie_is_found(fact: str, lie: dict[str, Any]) -> None:
    day = tell_day()
    find(day, fact).update(lie)
    assert any(fact in finding for finding in check(day))


@pytest.mark.parametrize(
    "fact", ["broker_started", "topic_created", "member_left", "config_altered"]
)
def test_what_no_act_tells_is_found(fact: str) -> None:
    day = tell_day()
    silent = find(day, fact)
    # Its time is kept, so that the story still covers it.
    silent.update(kind="act", fact="produced")
    (finding,) = check(day)
    assert finding.startswith("no act explains")


def test_a_state_that_held_only_at_first_is_found() -> None:
    day = tell_day()
    find(day, "owners_are")["to_ms"] += 1
    assert any("owners_are" in finding for finding in check(day))


def test_owners_that_are_not_those_of_the_range_formula_are_found() -> None:
    day = tell_day()
    owned = f"{GROUP}/owners/day-1-orders/0"
    index = next(i for i, one in enumerate(day.history.changes) if one.path == owned)
    change = day.history.changes[index]
    day.history.changes[index] = change._replace(data=b"other-0")
    find(day, "owners_are")["owners"] = {"0": "other-0"}
    (finding,) = check(day)
    assert "the range formula gives" in finding
