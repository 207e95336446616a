"""Every story there is, in the order in which all of them run."""

from __future__ import annotations

from lab.stories.broker_stories import CONTROLLER_FAILOVER, ROLLING_RESTART
from lab.stories.config_stories import CONFIG_CHANGES
from lab.stories.kafka_group_stories import KAFKA_GROUP
from lab.stories.lag_stories import SLOW_CONSUMER, ZOMBIE_MEMBER
from lab.stories.member_stories import CONSUMER_CRASH, FLAPPING_MEMBER, REBALANCE_STORM
from lab.stories.offset_stories import OFFSET_REWIND, QUIET_DAY, STUCK_CONSUMER
from lab.stories.story import Story
from lab.stories.topic_stories import (
    PARTITIONS_ADDED,
    PREFERRED_ELECTION,
    REASSIGNMENT,
    TOPIC_RECREATED,
)
from zklake.errors import LabError

STORIES = (
    QUIET_DAY,
    ROLLING_RESTART,
    CONSUMER_CRASH,
    FLAPPING_MEMBER,
    PARTITIONS_ADDED,
    REASSIGNMENT,
    PREFERRED_ELECTION,
    TOPIC_RECREATED,
    CONTROLLER_FAILOVER,
    OFFSET_REWIND,
    STUCK_CONSUMER,
    SLOW_CONSUMER,
    REBALANCE_STORM,
    ZOMBIE_MEMBER,
    CONFIG_CHANGES,
    KAFKA_GROUP,
)


def find_story(name: str) -> Story:
    """The story of that name."""
    for story in STORIES:
        if story.name == name:
            return story
    names = ", ".join(story.name for story in STORIES)
    raise LabError(f"no story is called {name!r}: choose one of {names}")
