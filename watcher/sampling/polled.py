"""Groups as they answered when asked, compared with what was last said of them. Pure.

The fallback where `__consumer_offsets` may not be read. What happened between two polls is not
seen, nor a commit of the same offset again, nor when a commit was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from watcher.sampling.thinning import Taken
from zklake.events.samples import Commit, GroupState

Key = tuple[str, int]


class Polled(NamedTuple):
    """What one group answered; None where it, or one of its partitions, could not be read."""

    state: GroupState | None
    commits: Mapping[Key, Commit | None] | None


class PolledGroups:
    """What was last said of each group. Memory: one entry per group and committed partition."""

    def __init__(self) -> None:
        self._states: dict[str, GroupState] = {}
        self._commits: dict[str, dict[Key, Commit]] = {}

    def compare(self, answers: Mapping[str, Polled], is_whole: bool) -> Taken:
        """What is news; a group that a whole list no longer names is gone."""
        states: list[GroupState] = []
        commits: list[Commit] = []
        for group_id, answer in answers.items():
            if answer.state is not None and answer.state != self._states.get(group_id):
                self._states[group_id] = answer.state
                states.append(answer.state)
            if answer.commits is not None:
                commits += self._differ(group_id, answer.commits)
        if is_whole:
            for group_id in (self._states.keys() | self._commits.keys()) - answers.keys():
                commits += self._differ(group_id, {})
                if self._states.pop(group_id, None) is not None:
                    states.append(GroupState(group_id, state="Dead", tombstone=True))
        return Taken(states, commits, len(commits), 0)

    def _differ(self, group_id: str, found: Mapping[Key, Commit | None]) -> list[Commit]:
        said = self._commits.get(group_id, {})
        # What could not be read stands as it was last published.
        answered = {key: commit or said.get(key) for key, commit in found.items()}
        stands = {key: commit for key, commit in answered.items() if commit is not None}
        news = [commit for key, commit in stands.items() if said.get(key) != commit]
        gone = [Commit(group_id, *key, tombstone=True) for key in said if key not in stands]
        if stands:
            self._commits[group_id] = stands
        else:
            self._commits.pop(group_id, None)
        return news + gone
