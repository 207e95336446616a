"""Telling stories on a cluster that runs: one, or all of them in turn."""

from __future__ import annotations

import time
from collections.abc import Callable

from lab.cluster import Cluster
from lab.stories.catalog import STORIES
from lab.stories.stage import Stage
from lab.stories.story import Story
from lab.stories.truth import Fact

BROKER_SETTINGS = {
    # Leaders move when the story says so, not when the controller thinks it is time.
    "auto.leader.rebalance.enable": "false",
    # Passwords in /config/brokers are encrypted with this; without it brokers take none.
    "password.encoder.secret": "of-the-lab",
}


def _discard(line: str) -> None:
    pass


def run_story(
    cluster: Cluster,
    story: Story,
    seed: int,
    speed: float,
    on_truth: Callable[[Fact], None],
    *,
    say: Callable[[str], None] = _discard,
    timeout_s: float = 60.0,
) -> float:
    """Tell one story; each fact goes to `on_truth` as soon as it is true. Returns the seconds."""
    started_at = time.monotonic()
    stage = Stage(
        cluster, story.name, seed, speed=speed, timeout_s=timeout_s, on_truth=on_truth, say=say
    )
    with stage:
        story.run(stage)
    return time.monotonic() - started_at


def run_all(
    cluster: Cluster,
    seed: int,
    speed: float,
    on_truth: Callable[[Fact], None],
    *,
    say: Callable[[str], None] = _discard,
    timeout_s: float = 60.0,
) -> dict[str, float]:
    """Tell every story on one cluster, which has three brokers or more; returns their seconds.

    Let it run with BROKER_SETTINGS: else the controller elects leaders in the middle of a story.
    """
    return {
        story.name: run_story(cluster, story, seed, speed, on_truth, say=say, timeout_s=timeout_s)
        for story in STORIES
    }
