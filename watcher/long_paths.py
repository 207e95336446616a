"""Paths so long that they would not fit a record, as they are published instead. Pure.

ZooKeeper bounds a path by its request alone: 1 MiB. A name that is too long becomes its beginning
and a keyed hash, each by itself, so that a child still stands under its parent; what lies below a
path that is long already becomes one hashed name. A path shortened so stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# Far above any name and path of Kafka's.
NAME_CHARS = 4096
# Every child of a longer path is one hashed name: how deep it lies is not known.
PARENT_CHARS = 12_288

# Stands before the hash.
MARK = "...~"
_KEPT_CHARS = 64
_SHORTENED = re.compile(r"\.\.\.~[0-9a-f]{16}(?:/|$)")
# Ids of delegation tokens too (zklake/events/redaction.py).
_HASHED = re.compile(r"(?:\.\.\.|/)~[0-9a-f]{16}(?:/|$)")


def shorten(path: str, hash_name: Callable[[str], str]) -> str:
    """The path as it fits a record; `hash_name` gives 16 hex digits."""
    if len(path) <= NAME_CHARS:
        return path
    kept = ""
    for name in path[1:].split("/"):
        if len(kept) > PARENT_CHARS:
            is_hashed = path.startswith(kept + "/" + MARK) and len(path) == len(kept) + 21
            return path if is_hashed else f"{kept}/{MARK}{hash_name(path)}"
        is_long = len(name) > NAME_CHARS
        kept += f"/{name[:_KEPT_CHARS]}{MARK}{hash_name(name)}" if is_long else f"/{name}"
    return kept


def is_shortened(path: str) -> bool:
    """Whether this is no znode's path, but what stands for one that was too long."""
    return _SHORTENED.search(path) is not None


def is_hashed(path: str) -> bool:
    """Whether the true path is known to ZooKeeper alone."""
    return "~" in path and _HASHED.search(path) is not None


def hides_depth(path: str) -> bool:
    """Whether nobody can say which znodes are its children, and which are theirs."""
    return len(path) > PARENT_CHARS
