"""What the members of a group read between them: topics by name or by wildcard. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from streaming.machines.changes import MemberState
from streaming.machines.wildcards import match_topics

_STATIC = "static"


class Source(NamedTuple):
    """A topic by name (static), or the topics that a regex takes in."""

    pattern: str
    text: str

    @property
    def is_static(self) -> bool:
        """Whether it names one topic."""
        return self.pattern == _STATIC


def list_sources(member: MemberState) -> tuple[Source, ...] | None:
    """What a member subscribes to; None: not known."""
    if member.subscription is None:
        return None
    return tuple(Source(member.pattern or _STATIC, text) for text in member.subscription)


def match_source(source: Source, topics: Iterable[str]) -> set[str] | None:
    """The topics that it takes in, of these where it is a wildcard; None: nobody can say."""
    return {source.text} if source.is_static else match_topics(*source, topics)


def find_read(members: Iterable[MemberState], topics: Collection[str]) -> set[str]:
    """Those of the topics that some member reads: all, where of one member nobody can say."""
    sources: set[Source] = set()
    for member in members:
        named = list_sources(member)
        if named is None:
            return set(topics)
        sources.update(named)
    read: set[str] = set()
    for source in sources:
        matched = match_source(source, topics)
        if matched is None:
            return set(topics)
        read |= matched
    return read.intersection(topics)
