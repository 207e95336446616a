"""Which topics and groups are meant, by name. Patterns are globs: `*` is any part of a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate

# Never sampled: each sample of them would cause the next.
OUR_TOPICS = "zklake.*"


class Names:
    """Included by one of the first patterns, and excluded by none of the others."""

    def __init__(self, include: Iterable[str] = ("*",), exclude: Iterable[str] = ()) -> None:
        self._is_included = _compile(include)
        self._is_excluded = _compile(exclude)
        # A name is asked for again with each of its records.
        self._known: dict[str, bool] = {}

    def holds(self, name: str) -> bool:
        """Whether this name is meant."""
        known = self._known.get(name)
        if known is None:
            if len(self._known) > 100_000:
                self._known.clear()
            known = self._is_included(name) and not self._is_excluded(name)
            self._known[name] = known
        return known


def _compile(patterns: Iterable[str]) -> Callable[[str], bool]:
    expressions = [translate(pattern) for pattern in patterns]
    if not expressions:
        return lambda name: False
    match = re.compile("|".join(expressions)).match
    return lambda name: match(name) is not None
