"""A lake that tells an hour of a small shop: a broker died, a consumer died, lag rose and fell."""

from __future__ import annotations

import time

from delta_tables.catalog import TABLE_BY_NAME
from tests.dashboard.story import Story
from tests.dashboard.story_cluster import tell_brokers, tell_changes, tell_topics
from tests.dashboard.story_commits import tell_commits
from tests.dashboard.story_groups import tell_billing, tell_lag, tell_others, tell_storms
from tests.delta_tables.small_lake import write_lake, write_rows

CLUSTER = "shop"


def write_story(lake: str, *, groups: int = 60) -> Story:
    """Write the lake."""
    story = Story()
    tell_brokers(story)
    tell_topics(story)
    tell_billing(story)
    tell_storms(story)
    tell_lag(story)
    tell_others(story, groups)
    tell_changes(story)
    tell_commits(story)
    write_lake(lake, CLUSTER, story.rows)
    return story


def tell_news(lake: str, group_id: str) -> None:
    """One more member, as a later batch would bring it."""
    news = Story()
    news.add(
        "consumer_membership",
        0,
        None,
        coordinator="zookeeper",
        group_id=group_id,
        member_id="new",
        is_known=True,
    )
    name = "consumer_membership"
    write_rows(lake, CLUSTER, TABLE_BY_NAME[name], news.rows[name])


def tell_events(lake: str, seconds: float = 60) -> None:
    """An event so long after the story, of which no other table says anything."""
    observed_at_ms = int((time.time() + seconds) * 1000)
    row = {"seq": 9001, "op": "heartbeat", "observed_at_ms": observed_at_ms}
    write_rows(lake, CLUSTER, TABLE_BY_NAME["znode_events"], [row])
