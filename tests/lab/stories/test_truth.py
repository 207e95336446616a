from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from lab.stories.patience import Observed, StoryTimeouts
from lab.stories.stage import Stage
from lab.stories.step import Act, Fields, Look
from lab.stories.truth import Fact, Truth, now_ms, read_truth
from zklake.errors import LabError


class Told:
    """As much of a stage as a step needs that asks nobody."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.truth = Truth("quiet-day", 7, self.facts.append)
        self.patience = StoryTimeouts(timeout_s=1.0, logs=Path("logs"))

    def as_stage(self) -> Stage:
        return cast(Stage, self)


@dataclass(frozen=True)
class Move(Act):
    fact: ClassVar[str] = "moved"
    topic: str
    replicas: tuple[int, ...]

    def perform(self, stage: Stage) -> Fields:
        return {"leader": 2}


@dataclass(frozen=True)
class Flicker(Look):
    """Shows one sight after the other, then the last for ever."""

    fact: ClassVar[str] = "seen"
    sights: list[int | None]

    def observe(self, stage: Stage) -> Observed | None:
        value = self.sights.pop(0) if len(self.sights) > 1 else self.sights[0]
        return None if value is None else Observed({"value": value}, marks=value)


def test_an_act_tells_what_was_planned_and_what_was_learnt() -> None:
    told, before = Told(), now_ms()
    Move("orders", (2, 1)).take(told.as_stage())
    (fact,) = told.facts
    assert (fact.story, fact.seed, fact.n, fact.kind, fact.fact) == (
        "quiet-day",
        7,
        0,
        "act",
        "moved",
    )
    assert fact.fields == {"topic": "orders", "replicas": [2, 1], "leader": 2}
    assert before <= fact.from_ms <= fact.to_ms <= now_ms()


def test_no_two_acts_share_a_millisecond() -> None:
    told = Told()
    for _ in range(20):
        Move("orders", (2, 1)).take(told.as_stage())
    for one, other in itertools.pairwise(told.facts):
        assert one.to_ms < other.from_ms


def test_a_state_is_told_only_when_it_is_still() -> None:
    told = Told()
    Flicker([None, 1, 2, None, 3]).take(told.as_stage())
    (fact,) = told.facts
    assert (fact.kind, fact.fields) == ("state", {"value": 3})
    assert fact.to_ms - fact.from_ms >= 200


def test_a_state_that_does_not_come_is_an_error_that_names_it() -> None:
    told = Told()
    with pytest.raises(LabError, match=r"Flicker.*not seen within 1 s; the logs are in logs"):
        Flicker([None]).take(told.as_stage())
    assert told.facts == []


def test_facts_are_numbered_and_survive_their_json() -> None:
    facts: list[Fact] = []
    truth = Truth("reassignment", 3, facts.append)
    fields: list[dict[str, Any]] = [
        {"broker_id": 1},
        {"owners": {0: "g_a-0"}, "members": ("a", "b")},
    ]
    for one in fields:
        truth.record("act", "something_done", 10, 20, one)
    assert [fact.n for fact in facts] == [0, 1]
    assert list(read_truth([*(fact.to_json() for fact in facts), "\n"])) == facts
    # What a listener gets is what a reader of the file gets.
    assert facts[1].fields == {"owners": {"0": "g_a-0"}, "members": ["a", "b"]}
    assert json.loads(facts[0].to_json()) == {
        "story": "reassignment",
        "seed": 3,
        "n": 0,
        "kind": "act",
        "fact": "something_done",
        "from_ms": 10,
        "to_ms": 20,
        "broker_id": 1,
    }
