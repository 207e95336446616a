"""Every story on one real cluster, its truth held to ZooKeeper's transaction log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lab.cluster import Cluster
from lab.stories import BROKER_SETTINGS, STORIES, Fact, tell_story
from lab.stories.step import Act, Look
from lab.stories.story import Story
from tests.reference.story_truth import find_contradictions
from tests.reference.tree import Change, fold
from tests.reference.txnlog import read_dir

pytestmark = pytest.mark.e2e

SEED = 5
SPEED = 50.0
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def theatre() -> Iterator[Cluster]:
    with Cluster(brokers=3, settings=BROKER_SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def whole(theatre: Cluster) -> Cluster:
    """The cluster with every broker alive, also after a story that failed."""
    for broker in theatre.brokers:
        if not broker.is_alive():
            broker.start()
    return theatre


def read_changes(cluster: Cluster) -> list[Change]:
    return fold(read_dir(cluster.zookeeper.servers[0].data_dir))[0]


def shift(fact: dict[str, Any], ms: int) -> dict[str, Any]:
    return {**fact, "from_ms": fact["from_ms"] + ms, "to_ms": fact["to_ms"] + ms}


def check_plan(story: Story, told: list[Fact]) -> None:
    """What was told is what the seed planned, in its order."""
    planned = [step for step in story.plan(SEED) if isinstance(step, Act | Look)]
    assert [fact.fact for fact in told] == [step.fact for step in planned]
    for step, fact in zip(planned, told, strict=True):
        fields = json.loads(json.dumps(step.tell_fields())) if isinstance(step, Act) else {}
        assert fields.items() <= fact.fields.items()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_the_truth_of(story: Story, whole: Cluster) -> None:
    told: list[Fact] = []
    seconds = tell_story(whole, story, SEED, SPEED, told.append, say=print)
    print(f"{story.name}: {len(told)} facts in {seconds:.1f} s")
    check_plan(story, told)
    facts, changes = [json.loads(fact.to_json()) for fact in told], read_changes(whole)
    assert find_contradictions(facts, changes) == []
    # The checker does not nod at everything: an hour earlier none of this was so.
    acts = [fact for fact in facts if fact["kind"] == "act" and fact["fact"] != "produced"]
    lies = [shift(fact, -HOUR_MS) for fact in acts]
    assert len(find_contradictions(lies, changes)) == len(lies)
