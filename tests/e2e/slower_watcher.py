"""A log as a slower watcher would have told it: it stands still now and then, and reads too late.

What was gone or written over by the time it would have read it becomes an event without a value, as
the real one publishes it. Everything else is what happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import msgspec

from tests.reference.group_log import Seen
from zklake.events.envelope import Event, Stat

_OFTEN = 0.05


def slow_down(
    events: Iterable[Event], log: Iterable[Seen], dice: Random, most_ms: int
) -> Iterator[Event]:
    """`log` says which change an event tells of; no stand-still is longer than `most_ms`."""
    over_ms = _find_ends(log)
    until_ms, last_zxid = 0, None
    for event in events:
        # The events of one transaction come in one packet.
        is_next, last_zxid = event.zxid != last_zxid, event.zxid
        if is_next and event.observed_at_ms > until_ms and dice.random() < _OFTEN:
            until_ms = event.observed_at_ms + dice.randrange(most_ms)
        seen_ms = max(event.observed_at_ms, until_ms)
        late = msgspec.structs.replace(event, observed_at_ms=seen_ms)
        yield _forget(late) if over_ms.get(event.seq, seen_ms) < seen_ms else late


def _find_ends(log: Iterable[Seen]) -> dict[int, int]:
    """By the seq of each value: when it was written over, or went with its znode."""
    ends: dict[int, int] = {}
    last: dict[str, int] = {}
    for seen in log:
        change = seen.change
        if change.path in last:
            ends[last.pop(change.path)] = change.time_ms
        if change.op != "delete":
            last[change.path] = seen.seq
    return ends


def _forget(event: Event) -> Event:
    """Its place and its life are known by the watch; value, times and session are not."""
    if event.fidelity != "exact" or event.stat is None:
        return event
    stat = event.stat
    known = Stat(czxid=stat.czxid, mzxid=stat.mzxid, version=stat.version, aversion=0)
    known = msgspec.structs.replace(known, ephemeral_owner=0)
    return msgspec.structs.replace(event, data=None, fidelity="superseded", stat=known)
