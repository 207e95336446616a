"""Who must own what in a group of old consumers, by the formula that Kafka's documents give."""

from __future__ import annotations

from tests.reference.fold.rebalance_changes import is_known, matches, subscribes
from tests.reference.fold.things import Member, Topic

_TOO_MANY_STREAMS = 1_000


def find_assignment(
    members: dict[str, Member], topics: dict[str, Topic]
) -> dict[tuple[str, int], str] | None:
    """The thread of each partition that some member reads; None: nobody can say."""
    for member in members.values():
        if not is_known(member):
            return None
        assert member.subscription is not None
        if max(member.subscription.values(), default=0) > _TOO_MANY_STREAMS:
            return None
    found: dict[tuple[str, int], str] = {}
    for name, topic in topics.items():
        threads = sorted(_list_threads(members, name))
        is_read = any(subscribes(member, name) for member in members.values())
        if topic.partitions is None and is_read:
            return None
        for index in range(len(threads)):
            count = len(topic.partitions or ())
            n, x = count // len(threads), count % len(threads)
            start = n * index + min(index, x)
            for partition in sorted(topic.partitions or ())[start : start + n + (index < x)]:
                found[name, partition] = threads[index]
    return found


def _list_threads(members: dict[str, Member], topic: str) -> set[str]:
    threads: set[str] = set()
    for name, member in members.items():
        if not subscribes(member, topic):
            continue
        for wanted, streams in (member.subscription or {}).items():
            one = Member(**{**vars(member), "subscription": {wanted: streams}})
            if matches(one, topic) or wanted == topic:
                threads |= {f"{name}-{number}" for number in range(streams)}
    return threads
