"""What changed since it was last said: log starts and ends of all partitions. Pure.

Memory is one entry per partition of the watched cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from zklake.events.samples import BrokerFailure, LogEnd

Partition = tuple[str, int]

OFFSETS_TOPIC = "__consumer_offsets"
NO_LEADER = "LEADER_NOT_AVAILABLE"
GONE = "UNKNOWN_TOPIC_OR_PART"
TOO_OLD = "UNSUPPORTED_VERSION"


class Layout(NamedTuple):
    """Who leads what, by the brokers' metadata; -1 leads what has no leader."""

    leaders: Mapping[Partition, int]
    # Of the partitions of __consumer_offsets, whether that topic is sampled or not.
    group_leaders: Mapping[int, int]
    # Why we may not even know whether that topic is there.
    groups_denied: str | None = None

    def by_leader(self) -> dict[int, list[Partition]]:
        """The partitions of each leader, which is asked for them by itself."""
        asked: dict[int, list[Partition]] = {}
        for partition, leader in self.leaders.items():
            if leader >= 0:
                asked.setdefault(leader, []).append(partition)
        return asked

    def count_silent_groups(self, silent: Collection[int]) -> int:
        """Partitions of __consumer_offsets that none of the brokers that answer leads."""
        return sum(each < 0 or each in silent for each in self.group_leaders.values())


class BrokerAnswer(NamedTuple):
    """What came of one broker's requests."""

    broker_id: int
    ends: list[LogEnd]
    failure: BrokerFailure | None = None


class Ends:
    """What was last said of each partition."""

    def __init__(self) -> None:
        self._said: dict[Partition, LogEnd] = {}

    def __len__(self) -> int:
        return len(self._said)

    def differ(self, ends: Iterable[LogEnd]) -> list[LogEnd]:
        """Those that are news; from now on they count as said."""
        news = []
        for end in ends:
            key = (end.topic, end.partition)
            if self._said.get(key) != end:
                self._said[key] = end
                news.append(end)
        return news

    def compare_layout(self, layout: Layout) -> list[LogEnd]:
        """Partitions that lost their leader or are gone: no broker can answer for them."""
        lost = [
            LogEnd(*key, error=NO_LEADER) for key, leader in layout.leaders.items() if leader < 0
        ]
        news = self.differ(lost)
        gone = [key for key in self._said if key not in layout.leaders]
        for key in gone:
            del self._said[key]
        return news + [LogEnd(*key, error=GONE) for key in gone]


def judge(broker_id: int, ends: list[LogEnd], reason: str) -> BrokerAnswer:
    """A broker of whose partitions none was answered has failed itself.

    One that is too old to be asked will not answer later either: its partitions say so.
    """
    answered = [end for end in ends if end.error is None]
    if answered or not ends:
        return BrokerAnswer(broker_id, ends)
    lost = [end for end in ends if end.error == TOO_OLD]
    return BrokerAnswer(broker_id, lost, BrokerFailure(broker_id, reason))
