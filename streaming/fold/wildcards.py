"""Which topics a wildcard subscription matches: Java's regexes, read without ever backtracking.

Pure. Anyone may write /consumers, so a regex is hostile: RE2 (inside Arrow) matches in linear time
and refuses what it cannot. Of what it refuses, only a look-ahead at the very start is in common use
(`(?!internal).*`): it is taken apart here. All else is None: the subscription is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

# exclude.internal.topics (default true) is not stored in ZooKeeper.
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})
_LONGEST_REGEX = 1000
# Kafka allows neither longer names nor other characters.
_LONGEST_TOPIC = 249
_LOOK_AHEADS = {"(?!": False, "(?=": True}


def match_topics(pattern: str, regex: str, topics: Iterable[str]) -> set[str] | None:
    """The topics that a white_list or black_list takes in; None: nobody can say."""
    if len(regex) > _LONGEST_REGEX:
        return None
    names = [t for t in topics if t.isascii() and len(t) <= _LONGEST_TOPIC]
    matched = _match(regex, names)
    if matched is None:
        return None
    wanted = pattern == "white_list"
    found = {name for name, is_match in zip(names, matched, strict=True) if is_match == wanted}
    return found - INTERNAL_TOPICS


def _match(regex: str, names: Sequence[str]) -> list[bool] | None:
    """Java's `matches`, the regex against the whole name, for each name."""
    body = regex.removeprefix("^")
    wanted = _LOOK_AHEADS.get(body[:3])
    if wanted is None:
        return _search(regex, r"\A(?:{})\z", names)
    end = _find_close(body)
    if end is None or _has_alternatives(body[end:]):
        return None
    rest = _match(body[end:], names)
    ahead = _search(body[3 : end - 1], r"\A(?:{})", names)
    if rest is None or ahead is None:
        return None
    return [here and (there == wanted) for here, there in zip(rest, ahead, strict=True)]


def _search(regex: str, frame: str, names: Sequence[str]) -> list[bool] | None:
    try:
        # On its own too: `)(` would fit the frame.
        pc.match_substring_regex(pa.array([""], pa.string()), regex)
        found = pc.match_substring_regex(pa.array(names, pa.string()), frame.format(regex))
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return None
    matched: list[bool] = found.to_pylist()
    return matched


def _has_alternatives(regex: str) -> bool:
    """Whether a `|` stands outside all parentheses."""
    return any(depth == 0 and char == "|" for char, depth in _walk(regex))


def _find_close(regex: str) -> int | None:
    """Behind the parenthesis that closes the first one."""
    for place, (char, depth) in enumerate(_walk(regex), 1):
        if char == ")" and depth == 0:
            return place
    return None


def _walk(regex: str) -> list[tuple[str, int]]:
    """Each character and how many parentheses are open behind it; what is escaped or in a class
    stands as a blank."""
    walked, depth, is_escaped, is_class = [], 0, False, False
    for char in regex:
        is_plain = not is_escaped and not is_class
        depth += (char == "(") - (char == ")") if is_plain else 0
        walked.append((char if is_plain else " ", depth))
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        else:
            is_class = char != "]" if is_class else char == "["
    return walked
