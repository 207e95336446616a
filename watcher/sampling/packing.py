"""Samples cut to bounded size: no record may be larger than Kafka takes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from zklake.events.envelope import encode
from zklake.events.samples import Commit, GroupCommits, GroupState, LogEnd, LogEnds, Round

# Well below watcher.max_record_bytes, and small enough to pass between two znode events.
RECORD_BYTES = 400_000

T = TypeVar("T", bound=msgspec.Struct)


def pack_ends(news: Sequence[LogEnd], ended: Round) -> list[LogEnds]:
    """The partitions that changed, and the round in the last record."""
    *full, last = [*cut(news)] or [()]
    return [*map(LogEnds, full), LogEnds(last, ended)]


def pack_commits(commits: Iterable[Commit]) -> list[GroupCommits]:
    """Commits of an interval, in a few records."""
    return [GroupCommits(part) for part in cut(commits)]


def pack_state(state: GroupState) -> GroupState:
    """A group; one that does not fit loses its subscriptions, and if need be its members.

    Each member subscribes to all topics, but a partition has one owner: so the former are larger.
    """
    if _fits(state):
        return state
    replace = msgspec.structs.replace
    members = tuple(replace(each, subscription=None) for each in state.members or ())
    shorter = replace(state, members=members)
    return shorter if _fits(shorter) else replace(state, members=None)


def _fits(state: GroupState) -> bool:
    return len(encode(state)) <= RECORD_BYTES


def cut(items: Iterable[T]) -> Iterator[tuple[T, ...]]:
    """Parts of at most RECORD_BYTES, or of one item."""
    part: list[T] = []
    size = 0
    for item in items:
        cost = len(encode(item))
        if part and size + cost > RECORD_BYTES:
            yield tuple(part)
            part, size = [], 0
        part.append(item)
        size += cost
    if part:
        yield tuple(part)
