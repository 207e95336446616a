"""What a member wants to read: topics by name, or by one regex of Java's, and its thread ids.

Pure. The form is that of the registry (`zklake.events.payloads.consumer.Consumer`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from zklake.errors import LabError
from zklake.events.payloads.consumer import Consumer

# exclude.internal.topics (default true) is not stored in ZooKeeper: everybody must agree on it.
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})


def build_subscription(
    topics: Sequence[str] = (),
    whitelist: str | None = None,
    blacklist: str | None = None,
    streams: int = 1,
) -> Consumer:
    """One of the three ways to subscribe; `streams` is per topic."""
    given = [topics or None, whitelist, blacklist]
    if sum(way is not None for way in given) != 1:
        raise LabError("a consumer reads either topics, or a white list, or a black list: give one")
    if streams < 1:
        raise LabError(f"a consumer has at least one stream, not {streams}")
    if whitelist is not None:
        return Consumer(pattern="white_list", subscription={trim_regex(whitelist): streams})
    if blacklist is not None:
        return Consumer(pattern="black_list", subscription={trim_regex(blacklist): streams})
    return Consumer(subscription=dict.fromkeys(topics, streams))


def trim_regex(raw: str) -> str:
    """As the original did: a comma is an alternative; spaces and outer quotes go."""
    regex = raw.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        re.compile(regex)
    except re.error as error:
        raise LabError(f"{raw!r} is not a regex of topics: {error}") from error
    return regex


def match_topics(member: Consumer, topics: Iterable[str]) -> dict[str, int]:
    """Streams by topic; a static member keeps its topics even before they exist."""
    if member.pattern == "static":
        return dict(member.subscription)
    wanted = member.pattern == "white_list"
    return {
        topic: streams
        for regex, streams in member.subscription.items()
        for topic in sorted(topics)
        # Java's `matches` is a full match.
        if (re.fullmatch(regex, topic) is not None) == wanted and topic not in INTERNAL_TOPICS
    }


def list_thread_ids(member_id: str, streams: int) -> list[str]:
    """The values its owner nodes may have, for one topic."""
    return [f"{member_id}-{index}" for index in range(streams)]


def list_threads(members: Mapping[str, Consumer], topics: Iterable[str]) -> dict[str, list[str]]:
    """Thread ids of a whole group by topic, sorted as strings: c-10 stands before c-2."""
    known = tuple(topics)
    threads: dict[str, list[str]] = {}
    for member_id, member in members.items():
        for topic, streams in match_topics(member, known).items():
            threads.setdefault(topic, []).extend(list_thread_ids(member_id, streams))
    return {topic: sorted(ids) for topic, ids in threads.items()}
