"""Which groups and topics are told, by name. Patterns are globs: `*` is any part of a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate


def choose_names(include: Iterable[str], exclude: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name fits one of the first patterns, and none of the others."""
    is_included, is_excluded = _compile(include), _compile(exclude)
    return lambda name: is_included(name) and not is_excluded(name)


def _compile(patterns: Iterable[str]) -> Callable[[str], bool]:
    expressions = [translate(pattern) for pattern in patterns]
    if not expressions:
        return lambda name: False
    match = re.compile("|".join(expressions)).match
    return lambda name: match(name) is not None
