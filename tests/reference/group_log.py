"""What happened to one ZooKeeper group, in the order of the transaction log, and what then stood.

Shares no code with the product. Knows znodes, not what makes a rebalance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.reference.tree import Change

Partition = tuple[str, int]


class Step(NamedTuple):
    """One change of a member, an owner or a topic; `word` is what it may trigger."""

    what: str  # joined | left | claimed | released | topic
    ms: int
    word: str | None
    member: str | None = None
    topic: str | None = None
    partition: int | None = None
    session: int = 0
    by_session_end: bool = False
    # Of a topic: the partitions are those of before; or it went, and nobody listens for that.
    is_weak: bool = False

    @property
    def place(self) -> Partition:
        """Of an owner."""
        assert self.topic is not None
        assert self.partition is not None
        return self.topic, self.partition


class Wanted(NamedTuple):
    """What a member subscribes to: topics by name, or one regex."""

    texts: frozenset[str]
    is_regex: bool

    def takes(self, topic: str) -> bool:
        """Whether it reads a topic of that name."""
        if not self.is_regex:
            return topic in self.texts
        return any(re.fullmatch(text, topic) for text in self.texts)


class Stand(NamedTuple):
    """What stood at one moment."""

    members: frozenset[str] = frozenset()
    owners: Mapping[Partition, str] = {}
    # Every partition of every topic that somebody subscribes to.
    expected: frozenset[Partition] = frozenset()

    @property
    def is_settled(self) -> bool:
        """Each of them has an owner that is a member."""
        return all(self.owners.get(place) in self.members for place in self.expected)


@dataclass
class Group:
    """Members with their topics, owners by partition, and the partitions of every topic."""

    name: str
    members: dict[str, Wanted] = field(default_factory=dict)
    owners: dict[Partition, str] = field(default_factory=dict)
    topics: dict[str, set[int]] = field(default_factory=dict)

    def follow(self, changes: Iterable[Change]) -> Iterator[list[Step]]:
        """Its steps, by transaction; what stands then is as of after them."""
        parts = re.compile(
            rf"/consumers/{re.escape(self.name)}/(?:ids/(?P<member>[^/]+)"
            r"|owners/(?P<topic>[^/]+)/(?P<partition>\d+))|/brokers/topics/(?P<name>[^/]+)"
        )
        last_zxid = -1
        steps: list[Step] = []
        for change in changes:
            if steps and change.zxid != last_zxid:
                yield steps
                steps = []
            last_zxid = change.zxid
            match = parts.fullmatch(change.path)
            if match and change.op != "set_acl":
                steps += self._take(change, match)
        if steps:
            yield steps

    def _take(self, change: Change, match: re.Match[str]) -> list[Step]:
        if match["member"]:
            return self._take_member(change, match["member"])
        if match["name"]:
            return self._take_topic(change, match["name"])
        return self._take_owner(change, (match["topic"], int(match["partition"])))

    def _take_member(self, change: Change, member: str) -> list[Step]:
        if change.op == "create":
            is_regex = change.json.get("pattern") == "white_list"
            self.members[member] = Wanted(frozenset(change.json["subscription"]), is_regex)
            return [Step("joined", change.time_ms, "member_joined", member)]
        if change.op == "delete":
            del self.members[member]
            word = "session_expired" if change.session_close else "member_left"
            return [Step("left", change.time_ms, word, member)]
        return []

    def _take_owner(self, change: Change, place: Partition) -> list[Step]:
        if change.op == "delete":
            member = self.owners.pop(place)
            ended = change.session_close
            word = "session_expired" if ended else None
            owner = change.ephemeral_owner
            return [Step("released", change.time_ms, word, member, *place, owner, ended)]
        member = (change.data or b"").decode().rpartition("-")[0]
        self.owners[place] = member
        return [Step("claimed", change.time_ms, None, member, *place, change.ephemeral_owner)]

    def _take_topic(self, change: Change, topic: str) -> list[Step]:
        before = self.topics.pop(topic, set())
        if change.op != "delete":
            self.topics[topic] = {int(p) for p in change.json["partitions"]}
        readers = [wanted for wanted in self.members.values() if wanted.takes(topic)]
        if not readers:
            return []
        after = self.topics.get(topic, set())
        if change.op != "set" and any(wanted.is_regex for wanted in readers):
            return [Step("topic", change.time_ms, "topic_matched", topic=topic)]
        if change.op != "set":
            is_gone = change.op == "delete"
            return [Step("topic", change.time_ms, "topic_changed", topic=topic, is_weak=is_gone)]
        word = "partitions_added" if after - before else "topic_changed"
        return [Step("topic", change.time_ms, word, topic=topic, is_weak=after == before)]

    def look(self) -> Stand:
        """What stands now."""
        read = [t for t in self.topics if any(each.takes(t) for each in self.members.values())]
        expected = {(topic, p) for topic in read for p in self.topics[topic]}
        return Stand(frozenset(self.members), dict(self.owners), frozenset(expected))
