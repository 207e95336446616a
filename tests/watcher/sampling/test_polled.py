from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError

from watcher.sampling.group_answers import read_commits
from watcher.sampling.polled import Polled, PolledGroups
from zklake.events.samples import Commit, GroupState

STABLE = GroupState("g", state="Stable", members=(), member_count=0)


def offsets(**committed: int) -> dict[tuple[str, int], Commit]:
    return {(t, 0): Commit("g", t, 0, offset) for t, offset in committed.items()}


def test_changes_and_only_those() -> None:
    groups = PolledGroups()
    first = groups.compare({"g": Polled(STABLE, offsets(a=1, b=2))}, is_whole=True)
    assert (first.states, len(first.commits)) == ([STABLE], 2)
    again = groups.compare({"g": Polled(STABLE, offsets(a=1, b=2))}, is_whole=True)
    assert (again.states, again.commits) == ([], [])
    moved = groups.compare({"g": Polled(STABLE, offsets(a=5))}, is_whole=True)
    assert moved.commits == [Commit("g", "a", 0, 5), Commit("g", "b", 0, tombstone=True)]


def test_a_group_is_gone_only_when_the_whole_list_lacks_it() -> None:
    groups = PolledGroups()
    groups.compare({"g": Polled(STABLE, offsets(a=1))}, is_whole=True)
    assert groups.compare({}, is_whole=False).states == []
    gone = groups.compare({}, is_whole=True)
    assert gone.states == [GroupState("g", state="Dead", tombstone=True)]
    assert gone.commits == [Commit("g", "a", 0, tombstone=True)]
    assert groups.compare({}, is_whole=True).states == []


def test_what_could_not_be_asked_is_unknown_not_gone() -> None:
    groups = PolledGroups()
    groups.compare({"g": Polled(STABLE, offsets(a=1))}, is_whole=True)
    taken = groups.compare({"g": Polled(None, None)}, is_whole=True)
    assert (taken.states, taken.commits) == ([], [])


def answer(partition: int, offset: int, error: KafkaError | None = None) -> Any:
    """A partition as the client tells it; an error cannot be put into a real one."""
    known = {"topic": "a", "partition": partition, "offset": offset, "error": error}
    return SimpleNamespace(**known, leader_epoch=None, metadata=None)


def read(*answers: Any) -> Any:
    told: Any = SimpleNamespace(group_id="g", topic_partitions=answers)
    return dict(read_commits(told))


def test_a_partition_that_could_not_be_told_keeps_its_commit() -> None:
    unstable = KafkaError(KafkaError.UNSTABLE_OFFSET_COMMIT)
    groups = PolledGroups()
    first = groups.compare({"g": Polled(STABLE, read(answer(0, 5), answer(1, 7)))}, is_whole=True)
    assert [commit.committed_offset for commit in first.commits] == [5, 7]
    found = read(answer(0, -1001, unstable), answer(1, 8), answer(2, -1001, unstable))
    again = groups.compare({"g": Polled(STABLE, found)}, is_whole=True)
    assert again.commits == [Commit("g", "a", 1, 8)]
    gone = groups.compare({"g": Polled(STABLE, read(answer(0, -1001)))}, is_whole=True)
    assert [(commit.partition, commit.tombstone) for commit in gone.commits] == [
        (0, True),
        (1, True),
    ]
