"""Joins ZooKeeper's transaction log with the watcher's: which event tells of which change.

By path both have the same changes in the same order, so nothing is judged by time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tests.reference.group_log import Seen
from tests.reference.past import Contradiction
from tests.reference.tree import Change
from zklake.events.envelope import Event

_OPS = ("create", "set", "delete")


def pick_group(changes: Iterable[Change], group_id: str) -> list[Change]:
    """Those that can concern a group."""
    below = (f"/consumers/{group_id}/", "/brokers/topics/")
    return [change for change in changes if change.path.startswith(below)]


def see_changes(changes: Iterable[Change], events: Iterable[Event]) -> Iterator[Seen]:
    """In the order of ZooKeeper, from the watcher's first word to its last."""
    told: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.op in (*_OPS, "read"):
            told[event.path or ""].append(event)
    made: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.op in _OPS:
            made[change.path].append(change)
    seen = [one for path in made for one in _pair(made[path], told[path])]
    yield from sorted(seen, key=lambda one: (one.change.zxid, one.change.index_in_txn))


def _pair(changes: list[Change], events: list[Event]) -> Iterator[Seen]:
    place = 0
    for event in events:
        zxid = event.stat.mzxid if event.stat else None
        if event.op == "read":
            # What stood when the watcher came, or stands in a frame.
            while place < len(changes) and changes[place].zxid <= (zxid or 0):
                place += 1
            continue
        if place == len(changes) or changes[place].op != event.op:
            raise Contradiction(f"no {event.op} of {event.path} in ZooKeeper's log: {event}")
        change = changes[place]
        # The stat of what is deleted is that of its last value.
        if event.op != "delete" and zxid not in (None, change.zxid):
            raise Contradiction(f"{event} is not {change}")
        yield Seen(change, event.seq, event.observed_at_ms, event.fidelity == "exact")
        place += 1
