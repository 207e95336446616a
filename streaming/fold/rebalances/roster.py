"""Who is in a group, what they must own between them, and what of it nobody live owns.

Pure, and of its own: events have changed the cluster's state already when a fold judges the time
before them. All counts move with each change, so that a group of any size is judged at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streaming.fold.changes import MemberState, OwnerState, PartitionKey
from streaming.fold.rebalances.assignment import MOST_STREAMS, assign_range, name_threads
from streaming.fold.subscriptions import Source, list_sources, match_source

# Partitions of the topics that stand; None: not known.
Topics = Mapping[str, frozenset[int] | None]


@dataclass
class Roster:
    """One group. `topics` is the cluster's, kept up to date by whoever made the roster."""

    topics: Topics
    # What each member subscribes to; None: not known.
    members: dict[str, tuple[Source, ...] | None] = field(default_factory=dict)
    # The member that owns each partition; None: not known who.
    owners: dict[PartitionKey, str | None] = field(default_factory=dict)
    # And its thread, which is what the owner znode names.
    _threads: dict[PartitionKey, str | None] = field(default_factory=dict)
    # How many streams each member has for each of its sources, by the source's text.
    _streams: dict[str, Mapping[str, int]] = field(default_factory=dict)
    expected: int = 0
    # Of those: partitions without an owner that is a member.
    missing: int = 0
    unknown: int = 0
    _sources: Counter[Source] = field(default_factory=Counter)
    _matched: dict[Source, set[str]] = field(default_factory=dict)
    # How many sources take each topic in, whether it stands or not.
    _wanted: Counter[str] = field(default_factory=Counter)
    # Of the wanted topics that stand: (partitions, those of them that are missing).
    _counted: dict[str, tuple[int, int]] = field(default_factory=dict)
    _held: dict[str | None, set[PartitionKey]] = field(default_factory=dict)

    def subscribes(self, topic: str) -> bool:
        """Whether any member reads a topic of this name."""
        return topic in self._wanted

    def may_want(self, topic: str, *, is_new: bool) -> bool:
        """Whether a topic of this name matters to the group; `is_new`: it did not stand so far."""
        if self.unknown or self.subscribes(topic):
            return True
        return is_new and self.takes_in(topic)

    def takes_in(self, topic: str) -> bool:
        """Whether a wildcard takes in a topic of this name, be it there or not."""
        return any(match_source(source, (topic,)) for source in self._matched)

    def is_good(self, key: PartitionKey) -> bool:
        """Whether a member owns it, as far as anybody knows."""
        if key not in self.owners:
            return False
        owner = self.owners[key]
        return owner is None or owner in self.members

    def is_assigned(self) -> bool:
        """Whether everybody owns what Kafka's formula gives them; False also where none can say.

        A claim that was gone before it could be read counts as the one that the formula gives: who
        claims has computed it, and would have been refused if another held what it wants.
        """
        if self.unknown or self.missing or any(map(_has_too_many, self._streams.values())):
            return False
        streams = self._count_streams()
        return all(self._is_topic_assigned(topic, each) for topic, each in streams.items())

    def _is_topic_assigned(self, topic: str, streams: Mapping[str, int]) -> bool:
        partitions = self.topics[topic]
        if partitions is None:
            return False
        assigned = assign_range(partitions, name_threads(streams))
        return all(
            self._threads.get(PartitionKey(topic, n), "") in (thread, None)
            for n, thread in assigned
        )

    def _count_streams(self) -> dict[str, dict[str, int]]:
        """By topic that stands and by member that reads it."""
        counted: dict[str, dict[str, int]] = {}
        for member_id, sources in self.members.items():
            for source in sources or ():
                streams = self._streams[member_id][source.text]
                for topic in self._matched.get(source, {source.text}):
                    if topic in self.topics:
                        each = counted.setdefault(topic, {})
                        each[member_id] = max(streams, each.get(member_id, 0))
        return counted

    def list_expected(self) -> Iterator[PartitionKey]:
        """Every partition that the group must own, as far as subscriptions are known."""
        for topic in self._counted:
            for partition in self.topics[topic] or ():
                yield PartitionKey(topic, partition)

    def put_member(self, state: MemberState) -> None:
        """A member came, or says something else now."""
        self.drop_member(state.member_id)
        sources = self._read_sources(state)
        self.members[state.member_id] = sources
        self._streams[state.member_id] = state.subscription or {}
        # Before its topics are counted, which finds its owner nodes good already.
        self._recount_owned(state.member_id)
        self.unknown += sources is None
        for source in sources or ():
            self._add_source(source)

    def drop_member(self, member_id: str) -> None:
        """A member went."""
        if member_id not in self.members:
            return
        sources = self.members.pop(member_id)
        del self._streams[member_id]
        self._recount_owned(member_id)
        self.unknown -= sources is None
        for source in sources or ():
            self._drop_source(source)

    def put_owner(self, key: PartitionKey, owner: OwnerState) -> None:
        """A partition has this owner now."""
        self.drop_owner(key)
        member_id = owner.owner_member_id
        self.owners[key], self._threads[key] = member_id, owner.owner
        self._held.setdefault(member_id, set()).add(key)
        self._note(key, -1 if self.is_good(key) else 0)

    def drop_owner(self, key: PartitionKey) -> None:
        """A partition has no owner now."""
        if key not in self.owners:
            return
        self._note(key, 1 if self.is_good(key) else 0)
        owner = self.owners.pop(key)
        del self._threads[key]
        self._held[owner].discard(key)
        if not self._held[owner]:
            del self._held[owner]

    def drop_topic(self, topic: str) -> None:
        """A topic that stood is gone, or about to change: call it while `topics` has it."""
        self._uncount(topic)
        for matched in self._matched.values():
            if topic in matched:
                matched.discard(topic)
                self._unwant(topic)

    def put_topic(self, topic: str) -> None:
        """A topic stands, or has changed: `topics` has it."""
        for source, matched in self._matched.items():
            if topic not in matched and match_source(source, (topic,)):
                matched.add(topic)
                self._wanted[topic] += 1
        self._count(topic)

    def _read_sources(self, state: MemberState) -> tuple[Source, ...] | None:
        sources = list_sources(state)
        if sources is None or any(self._match(source) is None for source in sources):
            return None
        return sources

    def _match(self, source: Source) -> set[str] | None:
        matched = self._matched.get(source)
        return match_source(source, self.topics) if matched is None else matched

    def _add_source(self, source: Source) -> None:
        self._sources[source] += 1
        if self._sources[source] > 1:
            return
        matched = self._match(source) or set()
        if not source.is_static:
            self._matched[source] = matched
        for topic in matched:
            self._wanted[topic] += 1
            self._count(topic)

    def _drop_source(self, source: Source) -> None:
        self._sources[source] -= 1
        if self._sources[source]:
            return
        del self._sources[source]
        for topic in self._matched.pop(source, {source.text}):
            self._unwant(topic)

    def _unwant(self, topic: str) -> None:
        self._wanted[topic] -= 1
        if not self._wanted[topic]:
            del self._wanted[topic]
            self._uncount(topic)

    def _count(self, topic: str) -> None:
        """Expect the topic's partitions, if it is wanted and they are known."""
        partitions = self.topics.get(topic)
        if topic in self._counted or topic not in self._wanted or partitions is None:
            return
        missing = sum(not self.is_good(PartitionKey(topic, number)) for number in partitions)
        self._counted[topic] = len(partitions), missing
        self.expected += len(partitions)
        self.missing += missing

    def _uncount(self, topic: str) -> None:
        size, missing = self._counted.pop(topic, (0, 0))
        self.expected -= size
        self.missing -= missing

    def _note(self, key: PartitionKey, change: int) -> None:
        """One partition more, or one less, is missing; if it is expected at all."""
        if not change or key.topic not in self._counted:
            return
        if key.partition in (self.topics[key.topic] or ()):
            size, missing = self._counted[key.topic]
            self._counted[key.topic] = size, missing + change
            self.missing += change

    def _recount_owned(self, member_id: str) -> None:
        """Its owner nodes count, or no longer do, since it is a member, or no longer is."""
        change = -1 if member_id in self.members else 1
        for key in self._held.get(member_id, ()):
            self._note(key, change)


def _has_too_many(subscription: Mapping[str, int]) -> bool:
    return any(streams > MOST_STREAMS for streams in subscription.values())
