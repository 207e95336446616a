"""Which kind of znode stands at a path, and what the path's parts are.

It runs for every event, so it walks a trie of segments once: no list of regular expressions.
Paths are those inside the chroot. It never raises: a path that is not Kafka's is "unknown".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from zklake.events.kinds import KINDS, UNKNOWN

# Parameters that are numbers; every other one is any name.
_NUMBERS = {"broker_id": r"[0-9]+", "partition": r"[0-9]+", "sequence": r"-?[0-9]+"}
# Kafka's Sanitizer URL-encodes these entity names.
_ENCODED = frozenset({"user", "client_id", "ip"})
_PARAMETER = re.compile(r"\[(\w+)\]")

Parse = Callable[[str], Mapping[str, str] | None]


class Match(NamedTuple):
    """The kind's name and the path's parameters, e.g. {"topic": "orders", "partition": "3"}."""

    kind: str
    params: Mapping[str, str]


class _Node:
    """A segment of the trie: a literal child wins over a number, a number over any name."""

    __slots__ = ("composite", "kind", "literals", "name", "number")

    def __init__(self) -> None:
        self.kind: str | None = None
        self.literals: dict[str, _Node] = {}
        self.number: tuple[str, _Node] | None = None
        self.name: tuple[str, _Node] | None = None
        # Segments of several parts, such as `[broker_id]-[partition]`.
        self.composite: tuple[Parse, _Node] | None = None


def _parse_with(segment: str) -> Parse:
    pieces = _PARAMETER.split(segment)
    # split() alternates text and parameter names.
    pattern = "".join(
        f"(?P<{piece}>{_NUMBERS.get(piece, '.+')})" if index % 2 else re.escape(piece)
        for index, piece in enumerate(pieces)
    )
    fullmatch = re.compile(pattern).fullmatch
    return lambda text: found.groupdict() if (found := fullmatch(text)) else None


def _step(node: _Node, segment: str) -> _Node:
    """The child for one segment of a pattern, made when missing."""
    if not _PARAMETER.search(segment):
        return node.literals.setdefault(segment, _Node())
    if parameter := _PARAMETER.fullmatch(segment):
        slot = "number" if parameter[1] in _NUMBERS else "name"
        child = getattr(node, slot) or (parameter[1], _Node())
        setattr(node, slot, child)
    else:
        child = node.composite or (_parse_with(segment), _Node())
        node.composite = child
    following: _Node = child[1]
    return following


def _build() -> _Node:
    root = _Node()
    for kind in KINDS:
        for pattern in (kind.pattern, *kind.also):
            node = root
            for segment in pattern.split("/")[1:]:
                node = _step(node, segment)
            node.kind = kind.name
    return root


_ROOT = _build()
_UNKNOWN = Match(UNKNOWN.name, {})


# Writes come back to the same paths; the bound keeps the cache below some 10 MB, as long as paths
# are as short as Kafka's.
@lru_cache(maxsize=16_384)
def classify(path: str) -> Match:
    """The kind of the znode at a path."""
    segments = path.split("/")
    if segments[0] or len(segments) == 1:
        return _UNKNOWN
    params: dict[str, str] = {}
    node = _ROOT
    for segment in segments[1:]:
        following = node.literals.get(segment) or _follow(node, segment, params)
        if following is None:
            return _UNKNOWN
        node = following
    return Match(node.kind, params) if node.kind else _UNKNOWN


def classify_long(path: str) -> Match:
    """The same for a path that is not to be remembered: ZooKeeper takes 1 MiB of it."""
    return classify.__wrapped__(path)


def _follow(node: _Node, segment: str, params: dict[str, str]) -> _Node | None:
    if node.number and segment.isdecimal() and segment.isascii():
        params[node.number[0]] = segment
        return node.number[1]
    if node.composite and (found := node.composite[0](segment)):
        params.update(found)
        return node.composite[1]
    if node.name is None or not segment:
        return None
    name = node.name[0]
    params[name] = _decode_name(segment) if name in _ENCODED and "%" in segment else segment
    return node.name[1]


def _decode_name(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return segment
