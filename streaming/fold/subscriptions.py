"""What the members of a group read between them: topics by name or by wildcard. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from streaming.fold.changes import MemberState
from streaming.fold.wildcards import match_topics

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


@dataclass(frozen=True, slots=True)
class Subscribed:
    """What the members of a group read between them."""

    names: frozenset[str] = frozenset()
    wildcards: frozenset[Source] = frozenset()
    # False: of some member nobody can say what it reads.
    is_known: bool = True

    @classmethod
    def read(cls, members: Iterable[MemberState]) -> Subscribed:
        """From members as they stand."""
        names: set[str] = set()
        wildcards: set[Source] = set()
        for member in members:
            if member.subscription is None:
                return ANYTHING
            if (member.pattern or _STATIC) == _STATIC:
                names.update(member.subscription)
            else:
                wildcards.update(list_sources(member) or ())
        if any(match_source(each, ()) is None for each in wildcards):
            return ANYTHING
        return cls(frozenset(names), frozenset(wildcards))

    def find_read(self, topics: Collection[str]) -> set[str]:
        """Those of the topics that some member reads, as far as anybody can say."""
        if not self.is_known:
            return set(topics)
        read = self.names.intersection(topics)
        return set(read).union(*(match_source(each, topics) or () for each in self.wildcards))


ANYTHING = Subscribed(is_known=False)
