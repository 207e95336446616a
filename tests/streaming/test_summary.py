from __future__ import annotations

from streaming.lake import _SMALL
from streaming.summary import _count_told, weigh
from zklake.events.envelope import Event
from zklake.events.samples import Commit, GroupCommits, GroupState, Member, TopicPartitions


def test_a_batch_of_few_large_values_is_not_small() -> None:
    assert weigh(100, 100 * 300) == 100
    assert weigh(100, 100 << 20) > _SMALL


def test_a_sample_weighs_what_it_tells() -> None:
    commits = GroupCommits(tuple(Commit("g", "t", partition, 1) for partition in range(3)))
    assert _count_told(Event("c", "l", 1, "group_commit", 0, group_commit=commits)) == 3
    member = Member("m", assignment=(TopicPartitions("t", (0, 1)),))
    group = GroupState("g", members=(member, Member("n")))
    assert _count_told(Event("c", "l", 1, "group_state", 0, group_state=group)) == 4
    assert _count_told(Event("c", "l", 1, "heartbeat", 0)) == 0
