"""The rebalances table of ZooKeeper groups: one row per episode, followed change by change."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.kafka_rebalances import fold_kafka_rebalances
from tests.reference.fold.presence import Moment, Move
from tests.reference.fold.rebalance_changes import Change, split
from tests.reference.fold.rebalance_episode import Episode
from tests.reference.fold.rebalance_group import Group, find_trigger, is_causal, is_weak
from zklake.events.envelope import Event

Row = dict[str, Any]
Exits = dict[int, str | None]
QUIET_MS = 2_500
FAIL_MS = 10_000


def fold_rebalances(moments: list[Moment], exits: Exits | None = None) -> list[Row]:
    """All rows of one cluster; no heartbeat is among the events that znode_events does not keep.

    `exits`: how members left, by the seq of each delete that ended a session.
    """
    names = {key[0].group_id for m in moments for key in m.members if key[0][0] == "zookeeper"}
    names |= {key.group_id for m in moments for key in m.owners if key[0] == "zookeeper"}
    rows = fold_kafka_rebalances(moments)
    for name in sorted(names):
        rows += _fold_group(name, moments, exits or {})
    return rows


def _fold_group(name: str, moments: list[Moment], exits: Exits) -> list[Row]:
    follower = _Follower(Group(name), exits)
    for moment in moments:
        follower.take(moment)
    return follower.rows + ([follower.episode.tell()] if follower.episode else [])


class _Follower:
    """One group, its rows so far, and the episode that goes on."""

    def __init__(self, group: Group, exits: Exits) -> None:
        self.group, self.exits = group, exits
        self.rows: list[Row] = []
        self.episode: Episode | None = None

    def take(self, moment: Moment) -> None:
        """One event."""
        event, at = moment.event, moment.event.observed_at_ms
        is_gap = event.op == "gap" and event.path == "/" and (event.gap and event.gap.lives is None)
        if not moment.is_blind and not is_gap:
            self._judge(at)
        for move in moment.moves:
            for change in self._find_changes(move, event):
                self._take_change(self.group.see(change), is_blind=moment.is_blind)
        if moment.is_blind and event.op != "in_sync":
            return
        if self.episode is not None and not self.group.members:
            self.rows.append(self.episode.end("settled", is_emptied=True))
            self.episode = None
        if not is_gap:
            # Not only before the next event: it may be a gap, and tell nothing of the time between.
            self._judge(at)

    def _find_changes(self, move: Move, event: Event) -> list[Change]:
        """Those that are of this group, or of a topic."""
        if move.what == "commit":
            return []
        if move.what == "member" and move.key[0] != self.group.key:
            return []
        if move.what == "owner" and move.key.group != self.group.key:
            return []
        changes = split(move, event)
        return [change._replace(exit=self.exits.get(event.seq)) for change in changes]

    def _judge(self, at: int) -> None:
        episode = self.episode
        if episode is None:
            return
        silence = at - episode.last_ms
        if episode.is_weak:
            self.episode = None if silence >= FAIL_MS else episode
        elif episode.is_settled():
            if silence > QUIET_MS:
                self.rows.append(episode.end("settled"))
                self.episode = None
        elif silence >= FAIL_MS:
            self.rows.append(episode.end("failed"))
            self.episode = None

    def _take_change(self, change: Change, *, is_blind: bool) -> None:
        if is_causal(change, self.group):
            is_next = find_trigger(change) is not None and not is_blind
            if self.episode is not None and is_next and self.episode.is_done():
                self.rows.append(self.episode.end("settled"))
                self.episode = None
            self._begin_or_join(change, is_blind=is_blind)
        elif self.episode is not None and change.what == "owner":
            self.episode.see_owner(change)
        self.group.apply(change)

    def _begin_or_join(self, change: Change, *, is_blind: bool) -> None:
        episode, at = self.episode, change.event.observed_at_ms
        is_owner = change.what == "owner"
        may_lapse = episode is not None and episode.is_weak and not is_owner and not is_blind
        if episode is not None and may_lapse and at - episode.last_ms > QUIET_MS:
            episode = None
        if episode is None:
            if is_owner and not self.group.members:
                return
            episode = Episode(self.group, change, is_weak=is_weak(change))
        elif not is_weak(change):
            episode.is_weak = False
        episode.take(change)
        self.episode = episode
