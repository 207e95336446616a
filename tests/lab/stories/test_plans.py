from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.stories import STORIES, find_story
from lab.stories.config_acts import AlterConfig
from lab.stories.group_acts import CrashMember, FreezeMember, JoinGroup, StopMember, ThawMember
from lab.stories.group_looks import OwnersAre
from lab.stories.impostor_acts import RegisterImpostor, Unregister
from lab.stories.step import Act, Look
from lab.stories.story import Story
from lab.stories.topic_acts import AddPartitions, CreateTopic, ElectPreferred, Reassign
from tests.reference.story_states import VIEWS
from tests.reference.story_truth import ACTS
from zklake.errors import LabError

SEEDS = range(50)
stories = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)


@stories
def test_one_seed_gives_one_plan(story: Story) -> None:
    for seed in SEEDS:
        assert story.plan(seed) == story.plan(seed)


@stories
def test_seeds_give_different_plans(story: Story) -> None:
    # Names carry the seed: without them, what the dice chose must still differ.
    plans = {str(story.plan(seed)).replace(f"{story.name}-{seed}-", "") for seed in SEEDS}
    assert len(plans) > 1


def test_a_plan_is_the_same_in_another_process() -> None:
    ask = "from lab.stories import STORIES; print([story.plan(7) for story in STORIES])"
    there = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == str([story.plan(7) for story in STORIES])


@stories
def test_replicas_are_brokers_that_exist_and_differ(story: Story) -> None:
    for seed in SEEDS:
        for step in story.plan(seed, brokers=4):
            placed = step.replicas if isinstance(step, CreateTopic | AddPartitions) else ()
            for replicas in (step.replicas,) if isinstance(step, Reassign) else placed:
                assert len(set(replicas)) == len(replicas)
                assert set(replicas) <= {0, 1, 2, 3}


@stories
def test_who_joins_leaves_and_owners_are_those_who_are_there(story: Story) -> None:
    for seed in SEEDS:
        present: set[str] = set()
        for step in story.plan(seed):
            if isinstance(step, JoinGroup | ThawMember | RegisterImpostor):
                assert step.member not in present
                present.add(step.member)
            elif isinstance(step, StopMember | CrashMember | FreezeMember | Unregister):
                present.remove(step.member)
            elif isinstance(step, OwnersAre):
                assert set(step.members) == present
        assert present == set()


@stories
def test_every_story_acts_and_ends_in_a_state_that_the_checker_knows(story: Story) -> None:
    acts = {step.fact for step in story.plan(1) if isinstance(step, Act)}
    looks = {step.fact for step in story.plan(1) if isinstance(step, Look)}
    assert acts
    assert looks
    assert acts <= ACTS.keys()
    assert looks <= VIEWS.keys()


def test_the_stories_of_the_issue_are_there() -> None:
    assert [story.name for story in STORIES] == [
        "quiet-day",
        "rolling-restart",
        "consumer-crash",
        "flapping-member",
        "partitions-added",
        "reassignment",
        "preferred-election",
        "topic-recreated",
        "controller-failover",
        "offset-rewind",
        "stuck-consumer",
        "slow-consumer",
        "rebalance-storm",
        "zombie-member",
        "config-changes",
        "kafka-group",
    ]


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("preferred-election", ElectPreferred),
        ("reassignment", Reassign),
        ("config-changes", AlterConfig),
    ],
)
def test_both_ways_are_told(name: str, act: type[Act]) -> None:
    for seed in SEEDS:
        steps = [step for step in find_story(name).plan(seed) if isinstance(step, act)]
        assert {getattr(step, "by", None) for step in steps} == {"znode", "api"}


def test_an_unknown_story_is_refused_with_the_names() -> None:
    with pytest.raises(LabError, match=r"no story is called 'night'.*quiet-day"):
        find_story("night")


def test_the_document_tells_every_story_and_every_fact() -> None:
    text = (Path(__file__).parents[3] / "docs" / "stories.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", text, re.MULTILINE))
    for story in STORIES:
        assert rows[story.name] == story.sentence
    assert set(re.findall(r"`([a-z]+(?:_[a-z]+)*_?)`", text)) >= {*ACTS, *VIEWS}
