"""`zklake …` with a defect in it: `python -m tests.e2e.planted DEFECT watch|stream …`.

Each is a mistake that somebody could make; a part that it is not in runs as always.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from typing import Any


def miss_an_event() -> None:
    """The watcher passes over every 40th watch event."""
    from watcher.recursive_watch import RecursiveWatch

    _skip_calls(RecursiveWatch, "apply_event", 40)


def believe_the_model() -> None:
    """After a gap, znodes that are gone are not missed."""
    from watcher.event_writer import EventWriter

    _replace(EventWriter, "_draft_gone", lambda original, self, paths, origin: [])


def hide_the_gap() -> None:
    """Nobody is told that the watcher was away."""
    from watcher.release import Release

    def emit(original: Any, self: Any, draft: Any, at_ms: int) -> None:
        if draft.op != "gap" or draft.gap.lives is not None:
            original(self, draft, at_ms)

    _replace(Release, "emit", emit)


def cut_values() -> None:
    """The last byte of a value does not arrive."""
    from watcher.recursive_watch import RecursiveWatch

    def apply_value(original: Any, self: Any, reply: Any, reading: Any, at_ms: int) -> None:
        original(self, reply._replace(data=reply.data and reply.data[:-1]), reading, at_ms)

    _replace(RecursiveWatch, "apply_value", apply_value)


def lose_a_record() -> None:
    """Of every 20th batch the first record does not reach Kafka."""
    from watcher.log.publisher import Publisher

    turns = count(1)

    def publish(original: Any, self: Any, batch: Any) -> None:
        if next(turns) % 20 == 0 and len(batch.events) > 1:
            batch = batch._replace(events=batch.events[1:])
        original(self, batch)

    _replace(Publisher, "publish", publish)


def pass_over_an_event() -> None:
    """The stream keeps an event and does not fold it."""
    from streaming.fold.intervals import IntervalFold

    _skip_calls(IntervalFold, "apply", 60)


def take_equal_values_for_one() -> None:
    """A write of the value that was there already is taken for an echo."""
    from streaming.fold.intervals import IntervalFold

    last: dict[Any, Any] = {}

    def apply(original: Any, self: Any, event: Any, *more: Any) -> None:
        said = (event.op, event.data)
        if event.op == "set" and last.get(event.path) == said:
            return
        last[event.path] = said
        original(self, event, *more)

    _replace(IntervalFold, "apply", apply)


def swap_neighbours() -> None:
    """Two events that follow each other are folded the other way round."""
    from streaming.fold.cluster import ClusterFold

    def walk(original: Any, self: Any, entries: Any) -> Any:
        entries = list(entries)
        for place in range(0, len(entries) - 1, 7):
            entries[place : place + 2] = entries[place + 1], entries[place]
        return original(self, entries)

    _replace(ClusterFold, "walk", walk)


def forget_ended_rows() -> None:
    """Rows that ended are not written at every fifth commit."""
    from streaming.lake import lake

    turns = count(1)

    def make_ended_files(original: Any, fold: Any) -> Any:
        return [] if next(turns) % 5 == 0 else original(fold)

    _replace(lake, "make_ended_files", make_ended_files)


def keep_a_shard() -> None:
    """At every fifth commit the former open rows stay, and are forgotten."""
    from streaming.lake.writer import TableWriter

    turns = count(1)

    def commit(original: Any, self: Any, added: Any, removed: Any, *more: Any) -> None:
        is_kept = next(turns) % 5 == 0
        original(self, added, [] if is_kept else removed, *more)
        for file in removed if is_kept else ():
            self._open.pop(file.path, None)

    _replace(TableWriter, "_commit", commit)


def mark_too_early() -> None:
    """A commit says that it goes further than it does."""
    _move_marks(+1_000)


def mark_too_late() -> None:
    """A commit says that it goes less far than it does."""
    _move_marks(-30)


def leave_gaps_open() -> None:
    """That the watcher is in sync again ends no gap."""
    from streaming.fold.log_gaps import LogGaps

    def apply(original: Any, self: Any, event: Any, context: Any) -> None:
        if event.op != "in_sync":
            original(self, event, context)

    _replace(LogGaps, "apply", apply)


def write_events_twice() -> None:
    """The events of every third batch that has any stand in znode_events twice."""
    from streaming.lake.lake import Lake

    turns = count(1)

    def write_events(original: Any, self: Any, entries: Any, *more: Any) -> Any:
        is_doubled = entries and next(turns) % 3 == 0
        entries = [*entries, *entries] if is_doubled else entries
        return original(self, entries, *more)

    _replace(Lake, "write_events", write_events)


DEFECTS: tuple[Callable[[], None], ...] = (
    miss_an_event,
    believe_the_model,
    hide_the_gap,
    cut_values,
    lose_a_record,
    pass_over_an_event,
    take_equal_values_for_one,
    swap_neighbours,
    forget_ended_rows,
    keep_a_shard,
    mark_too_early,
    mark_too_late,
    leave_gaps_open,
    write_events_twice,
)


def _move_marks(by: int) -> None:
    from streaming.lake.lake import Lake

    def replace_shards(original: Any, self: Any, fold: Any, mark: Any, *more: Any) -> None:
        original(self, fold, mark._replace(seq=mark.seq + by), *more)

    _replace(Lake, "replace_shards", replace_shards)


def _skip_calls(owner: type, name: str, every: int) -> None:
    turns = count(1)

    def skip(original: Any, *args: Any) -> None:
        if next(turns) % every:
            original(*args)

    _replace(owner, name, skip)


def _replace(owner: object, name: str, instead: Callable[..., Any]) -> None:
    original = getattr(owner, name)
    setattr(owner, name, lambda *args: instead(original, *args))


if __name__ == "__main__":
    defect = sys.argv.pop(1)
    {one.__name__: one for one in DEFECTS}[defect]()
    from zklake.cli.main import main

    main()
