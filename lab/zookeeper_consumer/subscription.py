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
# Of one member, over all its topics. Anyone may register 2,000,000,000.
MAX_THREADS = 100_000
# Java's regexes are not all Python's: `\p{Alpha}`, for one.
_NO_REGEX = (re.error, OverflowError, RecursionError)


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
    if not 1 <= streams <= MAX_THREADS:
        raise LabError(f"a consumer has 1 to {MAX_THREADS} streams, not {streams}")
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
    except _NO_REGEX as error:
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


def count_streams(member: Consumer, topics: Iterable[str]) -> dict[str, int]:
    """As `match_topics`, of a member of any maker: nothing when it makes no sense to us.

    The original asserts a stream at least and a regex that compiles: there, one such member fails
    the rebalances of all.
    """
    try:
        wanted = match_topics(member, topics)
    except _NO_REGEX:
        return {}
    makes_sense = min(wanted.values(), default=1) >= 1 and sum(wanted.values()) <= MAX_THREADS
    return wanted if makes_sense else {}


def list_thread_ids(member_id: str, streams: int) -> list[str]:
    """The values its owner nodes may have, for one topic."""
    return [f"{member_id}-{index}" for index in range(streams)]


def list_threads(members: Mapping[str, Consumer], topics: Iterable[str]) -> dict[str, list[str]]:
    """Thread ids of a whole group by topic, sorted as strings: c-10 stands before c-2."""
    known = tuple(topics)
    threads: dict[str, list[str]] = {}
    for member_id, member in members.items():
        for topic, streams in count_streams(member, known).items():
            threads.setdefault(topic, []).extend(list_thread_ids(member_id, streams))
    return {topic: sorted(ids) for topic, ids in threads.items()}
