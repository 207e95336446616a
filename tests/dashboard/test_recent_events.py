"""What happened, in sentences: what belongs together is one of them, with its consequences."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from starlette.testclient import TestClient

from dashboard.lives import list_lives
from dashboard.recent_events import list_recent
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from tests.dashboard.story import Story
from tests.dashboard.story_lake import CLUSTER
from tests.delta_tables.small_lake import write_lake


def tell(path: Path, story: Story) -> list[str]:
    """The sentences of the last hour, the newest first."""
    write_lake(str(path), CLUSTER, story.rows)
    tables = Tables(str(path), CLUSTER)
    tables.look()
    now = datetime.now(UTC)
    span = Span(story.at(60), now)
    return [row["text"] for row in list_recent(tables, span, list_lives(tables), now)]


def test_the_creation_of_a_topic_is_one_line(tmp_path: Path) -> None:
    story = Story()
    for number in range(12):
        story.add(
            "partition_state",
            10,
            9.9,
            topic="orders",
            partition=number,
            leader=-1,
            ended_by="changed",
        )
        story.add("partition_state", 9.9, None, topic="orders", partition=number, leader=1, isr=[1])
    story.add("topics", 10, None, topic="orders", partition_count=12, incarnation=7)
    for key, value in (("retention.ms", "1000"), ("cleanup.policy", "compact")):
        config = {"entity_type": "topics", "entity_name": "orders", "config_key": key}
        story.add("config_history", 9.95, None, **config, value=value)
    config = {"entity_type": "topics", "entity_name": "orders", "config_key": "retention.ms"}
    story.add("config_history", 5, None, **config, value="2000")
    said = tell(tmp_path, story)
    assert said[0] == "topic orders: retention.ms = 2000"
    assert len(said) == 2
    assert said[1].startswith("topic orders created: 12 partitions")
    assert "retention.ms = 1000" in said[1]
    assert "cleanup.policy = compact" in said[1]


def test_a_group_that_rebalances_again_and_again_is_one_line(tmp_path: Path) -> None:
    story = Story()
    for minute in (30, 29.5, 29, 28.4, 10):
        rebalance = {"coordinator": "zookeeper", "group_id": "readers", "trigger": "member_joined"}
        story.add("rebalances", minute, minute - 0.1, **rebalance, moved=2, outcome="settled")
    assert tell(tmp_path, story) == [
        "group readers rebalanced: a member joined, 2 partitions moved",
        "group readers rebalanced: a member joined, 2 partitions moved; "
        "3 more rebalances just before",
    ]


def test_a_departure_tells_its_consequences(client: TestClient) -> None:
    recent = client.get("/api/overview").json()["recent"]
    (left,) = [one for one in recent if "broker 2 left" in one["text"]]
    assert left["broker_id"] == 2
    assert left["text"] == (
        "broker 2 left (session ended): 3 leaders moved, 10 partitions under-replicated for 4 min, "
        "group search paused 27 s"
    )
    assert not [one for one in recent if "lost their leaders" in one["text"]]


def test_a_broker_that_is_still_away_costs_on(tmp_path: Path) -> None:
    story = Story()
    life = {"broker_id": 4, "endpoints": ["PLAINTEXT://a:9092"], "czxid": 1}
    story.add("broker_membership", 100, 20, **life, ended_by="session_ended", exit="crashed")
    state = {"topic": "orders", "partition": 0, "czxid": 5}
    story.add("partition_state", 100, 20, **state, leader=4, isr=[4, 5], ended_by="changed")
    story.add("partition_state", 20, None, **state, leader=5, isr=[5])
    (said,) = tell(tmp_path, story)
    assert said.startswith(
        "broker 4 left (session ended, crashed): 1 leader moved, 1 partition under-replicated for 2"
    )
    assert said.endswith("so far")
