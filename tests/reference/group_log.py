"""What happened to one ZooKeeper group, in the order of the transaction log, and what then stood.

Shares no code with the product. Knows znodes, not what makes a rebalance. What a watcher could not
read before it was gone stands here as unknown, for nobody who was not there can know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise, zip_longest
from typing import NamedTuple

from tests.reference.tree import Change

Partition = tuple[str, int]
# Deletes that are seen further apart than this are not known to be of one transaction.
_RUN_MS = 500


class Seen(NamedTuple):
    """A change, and where and when the watcher's log tells of it."""

    change: Change
    seq: int
    ms: int
    # False: it was gone, or written over, before its value could be read.
    is_read: bool = True

    @property
    def is_timed(self) -> bool:
        """Whether the watcher learned when it was by ZooKeeper's clock: a delete bears no time."""
        return self.is_read and self.change.op != "delete"

    @property
    def at_ms(self) -> int:
        """When it was, as far as the watcher learned."""
        return self.change.time_ms if self.is_timed else self.ms


class Step(NamedTuple):
    """One change of a member, an owner or a topic; `word` is what it may trigger."""

    what: str  # joined | left | claimed | released | topic
    seen: Seen
    word: str | None
    member: str | None = None
    topic: str | None = None
    partition: int | None = None
    # None: of a claim that nobody could read.
    session: int | None = None
    by_session_end: bool = False
    # Of a topic: the partitions are those of before; or it went, and nobody listens for that.
    is_weak: bool = False

    @property
    def ms(self) -> int:
        """When it happened."""
        return self.seen.change.time_ms

    @property
    def place(self) -> Partition:
        """Of an owner."""
        assert self.topic is not None
        assert self.partition is not None
        return self.topic, self.partition


class Wanted(NamedTuple):
    """What a member subscribes to: topics by name, or one regex; with how many streams each."""

    texts: Mapping[str, int]
    is_regex: bool

    def count_streams(self, topic: str) -> int:
        """How many of its threads read a topic."""
        takes = re.fullmatch if self.is_regex else str.__eq__
        return max((n for text, n in self.texts.items() if takes(text, topic)), default=0)

    def takes(self, topic: str) -> bool:
        """Whether it reads a topic of that name."""
        if not self.is_regex:
            return topic in self.texts
        return any(re.fullmatch(text, topic) for text in self.texts)


class Stand(NamedTuple):
    """What stood at one moment."""

    members: frozenset[str] = frozenset()
    # None: nobody knows whose it is.
    owners: Mapping[Partition, str | None] = {}
    # Every partition of every topic that somebody subscribes to.
    expected: frozenset[Partition] = frozenset()
    # Every owner is the one that Kafka's range formula gives, as far as anybody knows.
    is_assigned: bool = False
    # What stands, where nobody knows what some member reads.
    unclear: frozenset[str] = frozenset()

    def find_expected(self, before: Stand) -> frozenset[Partition]:
        """What must have an owner: what is read, or may be, because it had one before."""
        return self.expected | {place for place in before.owners if place[0] in self.unclear}

    def is_settled(self, before: Stand) -> bool:
        """Each of them has an owner that is a member."""
        live = (*self.members, None)
        return all(self.owners.get(p, "") in live for p in self.find_expected(before))


@dataclass
class Group:
    """Members with their topics, owners by partition, and the partitions of every topic."""

    name: str
    members: dict[str, Wanted | None] = field(default_factory=dict)
    owners: dict[Partition, str | None] = field(default_factory=dict)
    threads: dict[Partition, str | None] = field(default_factory=dict)
    # Of the owners whose session is known.
    sessions: dict[Partition, int] = field(default_factory=dict)
    topics: dict[str, set[int] | None] = field(default_factory=dict)
    # The deletes of this transaction, by seq, that can be told to be the end of a session.
    closing: range = range(0)

    def follow(self, log: Iterable[Seen]) -> Iterator[list[Step]]:
        """Its steps, as far as they are seen to be one; what stands then is as of after them."""
        parts = re.compile(
            rf"/consumers/{re.escape(self.name)}/(?:ids/(?P<member>[^/]+)"
            r"|owners/(?P<topic>[^/]+)/(?P<partition>\d+))|/brokers/topics/(?P<name>[^/]+)"
        )
        for _, txn in groupby(log, key=lambda seen: seen.change.zxid):
            # The deletes of one closeSession come in an order of the watch's own.
            ordered = [(seen, parts.fullmatch(seen.change.path)) for seen in sorted(txn, key=_seq)]
            matched = [(s, match) for s, match in ordered if match and s.change.op != "set_acl"]
            self.closing = self._find_closing(matched)
            # What was seen long before the rest is not known to belong to it.
            early = [one for one in matched if one[0].seq < self.closing.start]
            for part in (early, matched[len(early) :]):
                if steps := [step for seen, match in part for step in self._take(seen, match)]:
                    yield steps

    def _find_closing(self, matched: list[tuple[Seen, re.Match[str]]]) -> range:
        """From the first to the last whose session is known, seen one right after the other."""
        known = [seen for seen, match in matched if seen.change.session_close and self._has(match)]
        if not known:
            return self._find_last(matched)
        first = known[0]
        for before, after in pairwise(known):
            first = after if after.ms - before.ms >= _RUN_MS else first
        return range(first.seq, known[-1].seq + 1)

    def _find_last(self, matched: list[tuple[Seen, re.Match[str]]]) -> range:
        """A member that went by itself: as long as nothing else of its session is known, alike."""
        for seen, match in matched:
            is_member = seen.change.op == "delete" and match["member"] and self._has(match)
            if is_member and seen.change.ephemeral_owner not in self.sessions.values():
                return range(seen.seq, seen.seq + 1)
        return range(0)

    def _has(self, match: re.Match[str]) -> bool:
        """Whether the session of a member or owner is known."""
        if match["member"]:
            return self.members[match["member"]] is not None
        return self.threads[match["topic"], int(match["partition"])] is not None

    def _take(self, seen: Seen, match: re.Match[str]) -> list[Step]:
        if match["member"]:
            return self._take_member(seen, match["member"])
        if match["name"]:
            return self._take_topic(seen, match["name"])
        return self._take_owner(seen, (match["topic"], int(match["partition"])))

    def _take_member(self, seen: Seen, member: str) -> list[Step]:
        change = seen.change
        if change.op == "create":
            is_regex = seen.is_read and change.json.get("pattern") == "white_list"
            wanted = Wanted(change.json["subscription"], is_regex) if seen.is_read else None
            self.members[member] = wanted
            return [Step("joined", seen, "member_joined", member)]
        if change.op == "delete":
            del self.members[member]
            word = "session_ended" if seen.seq in self.closing else "member_left"
            return [Step("left", seen, word, member)]
        return []

    def _take_owner(self, seen: Seen, place: Partition) -> list[Step]:
        change = seen.change
        if change.op == "delete":
            member = self.owners.pop(place)
            has_session = self.threads.pop(place) is not None
            self.sessions.pop(place, None)
            ended = seen.seq in self.closing
            word = "session_ended" if ended else None
            owner = change.ephemeral_owner if has_session else None
            return [Step("released", seen, word, member, *place, owner, ended)]
        thread = (change.data or b"").decode() if seen.is_read else None
        self.threads[place] = thread
        if seen.is_read:
            self.sessions[place] = change.ephemeral_owner
        self.owners[place] = thread.rpartition("-")[0] if thread is not None else None
        owner = change.ephemeral_owner if seen.is_read else None
        return [Step("claimed", seen, None, self.owners[place], *place, owner)]

    def _take_topic(self, seen: Seen, topic: str) -> list[Step]:
        change = seen.change
        if change.op == "set" and not seen.is_read:
            # Written over: the next write tells of both.
            return []
        before = self.topics.pop(topic, set())
        if change.op != "delete":
            is_known = seen.is_read
            self.topics[topic] = {int(p) for p in change.json["partitions"]} if is_known else None
        readers = [wanted for wanted in self.members.values() if wanted and wanted.takes(topic)]
        if not readers:
            return []
        after = self.topics.get(topic, set())
        if change.op != "set" and any(wanted.is_regex for wanted in readers):
            return [Step("topic", seen, "topic_matched", topic=topic)]
        if change.op != "set":
            is_gone = change.op == "delete"
            return [Step("topic", seen, "topic_changed", topic=topic, is_weak=is_gone)]
        if before is None or after is None:
            return [Step("topic", seen, "topic_changed", topic=topic, is_weak=True)]
        word = "partitions_added" if after - before else "topic_changed"
        return [Step("topic", seen, word, topic=topic, is_weak=after == before)]

    def look(self) -> Stand:
        """What stands now."""
        known = [wanted for wanted in self.members.values() if wanted is not None]
        read = [t for t in self.topics if any(each.takes(t) for each in known)]
        expected = {(topic, p) for topic in read for p in self.topics[topic] or ()}
        is_clear = len(known) == len(self.members)
        is_assigned = is_clear and all(self._is_assigned(topic) for topic in read)
        members, owners = frozenset(self.members), dict(self.owners)
        unclear = frozenset(() if is_clear else self.topics)
        return Stand(members, owners, frozenset(expected), is_assigned, unclear)

    def _is_assigned(self, topic: str) -> bool:
        """Whoever comes first by name takes one more, while partitions are left over."""
        partitions = self.topics[topic]
        if partitions is None:
            return False
        threads = sorted(
            f"{member}-{stream}"
            for member, wanted in self.members.items()
            if wanted is not None
            for stream in range(wanted.count_streams(topic))
        )
        takers: list[str] = []
        for place, thread in enumerate(threads):
            left = len(partitions) - len(takers)
            takers += [thread] * -(-left // (len(threads) - place))
        owners = [self.threads.get((topic, p), "") for p in sorted(partitions)]
        # Whom nobody could read is not known to be another.
        known = [
            (owner, taker) for owner, taker in zip_longest(owners, takers) if owner is not None
        ]
        return all(owner == taker for owner, taker in known)


def _seq(seen: Seen) -> int:
    return seen.seq
