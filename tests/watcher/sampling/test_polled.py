from __future__ import annotations

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
