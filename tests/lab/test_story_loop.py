from __future__ import annotations

from itertools import islice
from random import Random

from lab.shop import MEMBER_RATE, REGULARS
from lab.stories.broker_acts import StartBroker, StopBroker
from lab.stories.group_acts import CrashMember, JoinGroup, StopMember
from lab.story_loop import Chapter, plan_chapters
from lab.waves import MEAN, PERIOD_S, SWING, find_rate


def plan(seed: int, count: int) -> list[Chapter]:
    return list(islice(plan_chapters(Random(seed), (0, 1, 2)), count))


def test_the_same_dice_plan_the_same_chapters() -> None:
    assert plan(7, 40) == plan(7, 40)
    assert plan(7, 40) != plan(8, 40)


def test_who_is_killed_or_stopped_is_held_and_comes_back() -> None:
    for chapter in plan(3, 40):
        for step in chapter.steps:
            if isinstance(step, CrashMember):
                assert step.member_id in chapter.held
                assert isinstance(chapter.steps[-1], JoinGroup)
                assert chapter.steps[-1].member_id == step.member_id
            if isinstance(step, StopBroker):
                assert f"broker-{step.broker}" in chapter.held
                assert chapter.steps[-1] == StartBroker(step.broker)
            if isinstance(step, StopMember):
                assert step.member not in REGULARS


def test_lag_rises_and_falls() -> None:
    capacity = MEMBER_RATE * len(REGULARS)
    rates = [find_rate(second) for second in range(int(PERIOD_S))]
    assert min(rates) > 0
    assert min(rates) < capacity < max(rates)
    # What the readers do not get done in one half of a wave they do in the other.
    assert abs(sum(rates) / len(rates) - MEAN) < 0.1
    assert capacity >= MEAN
    assert rates[0] == MEAN - SWING
