"""One ZooKeeper group as the fold follows it: its roster, and its rebalance if one is under way.

Pure. Time is judged before each change, with what stood before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from streaming.fold.changes import Change, MemberState, OwnerState, PartitionKey
from streaming.fold.life import Moment
from streaming.fold.rebalances.episode import Episode, Pace
from streaming.fold.rebalances.outcome import empty_episode, end_episode
from streaming.fold.rebalances.roster import Roster
from streaming.fold.rebalances.tries import Times
from streaming.fold.rebalances.triggers import is_causal, is_of_owner, read_trigger
from streaming.fold.row import Row


@dataclass
class GroupEpisodes:
    """`key`: the key columns of its rows."""

    key: Row
    pace: Pace
    roster: Roster
    episode: Episode | None = None
    ended: list[Row] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to follow."""
        return not (self.roster.members or self.roster.owners or self.episode or self.ended)

    def judge(self, now_ms: int) -> None:
        """End the episode if it is over by now."""
        if self.episode is None:
            return
        verdict = self.episode.judge(self.roster, now_ms, self.pace)
        if verdict in ("settled", "failed"):
            self.ended.append(end_episode(self.episode, self.roster, verdict))
        if verdict != "ongoing":
            self.episode = None

    def judge_followed(self, change: Change) -> None:
        """End the episode if all was assigned when a change asks for the next one.

        Call it before the change is applied to anything.
        """
        if self.episode is None or not is_causal(change):
            return
        is_asked = read_trigger(change, self.roster.takes_in).is_real
        if is_asked and self.episode.is_done(self.roster):
            self.ended.append(end_episode(self.episode, self.roster, "settled"))
            self.episode = None

    def judge_emptied(self) -> None:
        """End the episode if nobody is left."""
        if self.episode is not None and not self.roster.members:
            self.ended.append(empty_episode(self.episode, self.roster))
            self.episode = None

    def note(self, change: Change, at: Moment, times: Times, *, is_blind: bool) -> None:
        """A change that concerns the group: it begins an episode, or belongs to the one there is.

        Call it before the change is applied to the roster.
        """
        is_owner = is_of_owner(change)
        if is_causal(change):
            self._begin_or_note(change, at, times, is_blind=is_blind)
        if is_owner and self.episode is not None:
            self.episode.note_owner(change, at, times, self.pace)

    def _begin_or_note(self, change: Change, at: Moment, times: Times, *, is_blind: bool) -> None:
        trigger = read_trigger(change, self.roster.takes_in)
        is_owner = is_of_owner(change)
        if self.episode is not None and self.episode.memory.is_weak and not is_owner:
            is_late = times.seen_ms - self.episode.memory.last_ms > self.pace.quiet_ms
            self.episode = None if is_late and not is_blind else self.episode
        if self.episode is not None:
            self.episode.note(trigger, at, times)
        elif self.roster.members or not is_owner:
            self.episode = Episode.begin(self.key, len(self.roster.members), trigger, at, times)

    def apply(self, change: Change) -> None:
        """Members and owners as they stand after a change."""
        match change.kind, change.after:
            case "member_joined" | "member_changed", MemberState() as state:
                self.roster.put_member(state)
            case "member_left", _:
                self.roster.drop_member(change.member_id or "")
            case "owner_claimed" | "owner_changed", OwnerState() as owner:
                self.roster.put_owner(_find_key(change), owner)
            case "owner_released", _:
                self.roster.drop_owner(_find_key(change))


def _find_key(change: Change) -> PartitionKey:
    assert change.topic is not None
    assert change.partition is not None
    return PartitionKey(change.topic, change.partition)
