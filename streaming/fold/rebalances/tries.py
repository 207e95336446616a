"""Claims given back: a failed try, or only an extra round. Pure.

A failed try is followed by the backoff, an extra round claims again at once. A watcher under load
sees both late, so the wait is measured by ZooKeeper's clock wherever a change bears its time.
"""

from __future__ import annotations

from typing import NamedTuple

from delta_tables.observation import read_millis
from streaming.fold.changes import OwnerState
from streaming.fold.rebalances.memory import EpisodeState, Touched, Tries
from zklake.events.envelope import Event, Stat


class Times(NamedTuple):
    """When the watcher saw a change, and when it was by ZooKeeper's clock, if that is known."""

    seen_ms: int
    own_ms: int | None


def read_times(event: Event) -> Times:
    """Of an event's changes; a delete bears no time, nor does what was gone before it was read."""
    stat = event.stat or Stat()
    own_ms = {"create": stat.ctime, "set": stat.mtime, "read": stat.mtime}.get(event.op)
    return Times(event.observed_at_ms, read_millis(own_ms))


def note_times(memory: EpisodeState, times: Times) -> None:
    """A change: if it bears ZooKeeper's time, what was given back before it was so by then."""
    if times.own_ms is None:
        return
    ahead_ms = times.seen_ms - times.own_ms
    memory.ahead_ms = ahead_ms if memory.ahead_ms is None else min(memory.ahead_ms, ahead_ms)
    memory.zookeeper_ms = max(times.own_ms, memory.zookeeper_ms or 0)
    for session in memory.untimed:
        memory.tries[session].max_ms = memory.zookeeper_ms
    memory.untimed.clear()


def find_tries(memory: EpisodeState, owner: OwnerState) -> Tries:
    """Of its session; a znode that was gone before it could be read has none: not kept."""
    if owner.session is None:
        return Tries()
    return memory.tries.setdefault(str(owner.session), Tries())


def give_back(memory: EpisodeState, touched: Touched, owner: OwnerState, seen_ms: int) -> None:
    """A session let go of what it had claimed, and nothing asked for it."""
    tries = find_tries(memory, owner)
    tries.given_back, tries.given_ms, tries.max_ms = tries.given_back + 1, seen_ms, None
    if owner.session is not None:
        touched.given_by = str(owner.session)
        memory.untimed.append(touched.given_by)


def settle_tries(
    memory: EpisodeState, touched: Touched, owner: OwnerState, times: Times, extra_round_ms: int
) -> None:
    """It claims again: what it gave back was a failed try if it waited, else an extra round."""
    tries = find_tries(memory, owner)
    given_by, touched.given_by = touched.given_by, None
    is_unread = owner.session is None
    if is_unread and given_by is not None:
        # Nobody knows who claims: perhaps who gave it back, and then this is its extra round.
        tries = memory.tries[given_by]
    has_waited = _find_wait(memory, tries, times) >= extra_round_ms
    if is_unread and has_waited:
        return
    if has_waited:
        memory.conflicts += tries.given_back
    tries.given_back = 0


def _find_wait(memory: EpisodeState, tries: Tries, times: Times) -> int:
    """From what was last given back to a claim, by one clock."""
    if times.own_ms is None or memory.ahead_ms is None:
        return times.seen_ms - tries.given_ms
    given_ms = tries.given_ms - memory.ahead_ms
    if tries.max_ms is not None:
        given_ms = min(given_ms, tries.max_ms)
    return times.own_ms - given_ms
