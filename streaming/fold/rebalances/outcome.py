"""What a rebalance came to, computed once, when it ends. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from streaming.fold.changes import PartitionKey
from streaming.fold.life import Moment
from streaming.fold.rebalances.episode import Episode
from streaming.fold.rebalances.memory import EpisodeState
from streaming.fold.rebalances.roster import Roster
from streaming.fold.row import Row, end_row


def end_episode(episode: Episode, roster: Roster, outcome: str) -> Row:
    """The row of an episode that is over: at its last claim if settled, else at its last change."""
    memory = episode.memory
    moment, seen_ms = memory.last, memory.last_ms
    if outcome == "settled" and memory.claim:
        moment, seen_ms = memory.claim, memory.claim_ms
    row = _end(episode, roster, outcome, moment) | _measure_unowned(memory, seen_ms)
    return row | _count_partitions(episode, roster)


def empty_episode(episode: Episode, roster: Roster) -> Row:
    """The row of an episode that ended because nobody is left in the group."""
    touched = episode.memory.touched.values()
    keys = {PartitionKey(each.topic, each.partition) for each in touched}
    left = len(roster.owners.keys() - keys) + sum(
        t.had_owner or t.claim_seq is not None for t in touched
    )
    row = _end(episode, roster, "settled", episode.memory.last)
    row |= _measure_unowned(episode.memory, episode.memory.last_ms)
    # Owner znodes may still seem to stand: they go with the same session, in no certain order.
    return row | {"partitions": 0, "left_unowned": left, "moved": 0, "reacquired": 0}


def _end(episode: Episode, roster: Roster, outcome: str, moment: Moment) -> Row:
    row, memory = dict(episode.row), episode.memory
    end_row(row, moment, outcome)
    began, ended = row["valid_from_at"], row["valid_to_at"]
    return (
        row
        | _compare_owners(memory, roster)
        | {
            "members_after": len(roster.members),
            "attempts": memory.attempts,
            "conflicts": memory.conflicts + sum(t.given_back for t in memory.tries.values()),
            "duration_ms": None if None in (began, ended) else ended - began,
            "outcome": outcome,
            "fold_state": None,
        }
    )


def _compare_owners(memory: EpisodeState, roster: Roster) -> Row:
    moved = reacquired = 0
    for each in memory.touched.values():
        now = roster.owners.get(PartitionKey(each.topic, each.partition))
        if now is not None and each.before is not None:
            moved += now != each.before
            reacquired += now == each.before and (each.claim_seq is not None)
    return {"moved": moved, "reacquired": reacquired}


def _measure_unowned(memory: EpisodeState, end_ms: int) -> Row:
    """`end_ms`: when the watcher saw it end."""
    if memory.is_hidden:
        return dict.fromkeys(("unowned_ms", "max_unowned_ms", "unowned"))
    holes: Mapping[str, int] = {
        name: each.unowned_ms
        + (0 if each.released_ms is None else max(0, end_ms - each.released_ms))
        for name, each in memory.touched.items()
    }
    return {
        "unowned_ms": sum(holes.values()),
        "max_unowned_ms": max(holes.values(), default=0),
        "unowned": {name: ms for name, ms in sorted(holes.items()) if ms},
    }


def _count_partitions(episode: Episode, roster: Roster) -> Row:
    before = episode.list_owned_before(roster)
    if not roster.missing and not before:
        return {"partitions": roster.expected, "left_unowned": 0}
    expected = before | set(roster.list_expected())
    return {"partitions": len(expected), "left_unowned": len(expected - roster.owners.keys())}
