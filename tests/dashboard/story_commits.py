"""Commits of the story, and the curve of log ends they were made to: what Burrow looks at."""

from __future__ import annotations

from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC, UNICODE_GROUP, Story, write
from tests.dashboard.story_groups import find_lag

# By partition of `payments`: what the group `ledger` committed minute by minute, oldest first.
LEDGER = (
    [170_000] * 10,  # it commits, always the same
    [170_000 + 1500 * n for n in range(9)] + [160_000],  # it fell
    [150_000 + 100 * n for n in range(10)],  # it goes on, but falls behind
)


def find_end(partition: int, minute: float) -> int:
    """The log end so many minutes ago."""
    return 190_000 + 1000 * partition - int(1500 * (minute - 1))


def tell_commits(story: Story) -> None:
    for topic, partitions in (("orders", 6), ("payments", 3)):
        for partition in range(partitions):
            _tell_ends(story, topic, partition)
    for partition in range(6):
        offsets = [find_end(partition, m) - find_lag(m, partition) for m in range(60, 0, -1)]
        _commit(story, "billing", "orders", partition, offsets)
    for partition, offsets in enumerate(LEDGER):
        _commit(story, "ledger", "payments", partition, offsets)
    # Silent for 29 minutes after ten of work.
    _commit(story, "audit", "payments", 0, [100_000 + n for n in range(10)], until=30)
    _commit(story, "search", "orders", 0, [189_000], coordinator="kafka")
    _commit(story, UNICODE_GROUP, "payments", 1, [191_000])
    _commit(story, HOSTILE_GROUP, HOSTILE_TOPIC, 0, [7])
    # A week and a day ago: Burrow has forgotten it.
    _commit(story, "forgotten", "payments", 0, [5], until=8 * 24 * 60)


def _tell_ends(story: Story, topic: str, partition: int) -> None:
    for minute in range(60, 1, -1):
        story.add(
            "log_ends",
            minute,
            minute - 1,
            topic=topic,
            partition=partition,
            log_start_offset=0,
            log_end_offset=find_end(partition, minute),
            sampled_at=write(story.at(minute)),
            confirmed_at=write(story.at(minute - 0.9)),
            ended_by="changed",
        )


def _commit(
    story: Story,
    group_id: str,
    topic: str,
    partition: int,
    offsets: list[int],
    *,
    until: float = 1,
    coordinator: str = "zookeeper",
) -> None:
    """One a minute, half a minute after the log end was sampled; the last one stands."""
    for place, offset in enumerate(offsets):
        minute = until + len(offsets) - 1 - place - 0.5
        is_last = place == len(offsets) - 1
        story.add(
            "consumer_offsets",
            minute,
            None if is_last else minute - 1,
            coordinator=coordinator,
            group_id=group_id,
            topic=topic,
            partition=partition,
            committed_offset=offset,
            is_known=True,
            znode_version=place if coordinator == "zookeeper" else None,
            ended_by=None if is_last else "changed",
        )
