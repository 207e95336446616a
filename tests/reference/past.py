"""The tree as it was at any moment, and what changed between two: asked of the log's changes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.reference.tree import Change, split

Fact = dict[str, Any]


class Contradiction(Exception):
    """The log does not say what the truth says."""


def expect(holds: bool, what: str) -> None:
    """Contradict what does not hold."""
    if not holds:
        raise Contradiction(f"not so: {what}")


class Past:
    """Every change of a log, by path and by the server's clock."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self.changes = list(changes)
        self._of_path: dict[str, list[Change]] = {}
        self._children: dict[str, set[str]] = {}
        for change in self.changes:
            self._of_path.setdefault(change.path, []).append(change)
            parent, name = split(change.path)
            self._children.setdefault(parent, set()).add(name)

    def at(self, path: str, ms: int) -> Change | None:
        """The change that made the znode what it was at that moment; None when it was not there."""
        latest = None
        for change in self._of_path.get(path, []):
            if change.time_ms > ms:
                break
            if change.op != "set_acl":
                latest = change
        return None if latest is None or latest.op == "delete" else latest

    def json_at(self, path: str, ms: int) -> Any:
        """The znode's JSON at that moment; it must have been there."""
        change = self.at(path, ms)
        if change is None:
            raise Contradiction(f"{path} was not there at {ms}")
        return json.loads(change.data or b"null")

    def children_at(self, path: str, ms: int) -> dict[str, bytes]:
        """Names and values of the children that were there at that moment."""
        names = sorted(self._children.get(path, ()))
        found = {name: self.at(f"{path}/{name}", ms) for name in names}
        return {name: change.data or b"" for name, change in found.items() if change}

    def between(self, path: str, from_ms: int, to_ms: int, op: str = "") -> list[Change]:
        """The changes of one path in that time, of one kind if it is named."""
        return [
            change
            for change in self._of_path.get(path, [])
            if from_ms <= change.time_ms <= to_ms and op in ("", change.op)
        ]

    def only(self, fact: Fact, op: str, path: str) -> Change:
        """The only change of one path and kind in the fact's time."""
        return _only(self.between(path, fact["from_ms"], fact["to_ms"], op), f"{op} {path}")

    def only_child(self, fact: Fact, op: str, parent: str) -> Change:
        """The only change of that kind of any child in the fact's time."""
        found = [
            change
            for name in sorted(self._children.get(parent, ()))
            for change in self.between(f"{parent}/{name}", fact["from_ms"], fact["to_ms"], op)
        ]
        return _only(found, f"{op} {parent}/*")

    def moments(self, from_ms: int, to_ms: int) -> list[int]:
        """The first moment, and every later one at which anything changed."""
        times = {change.time_ms for change in self.changes}
        return sorted({from_ms} | {ms for ms in times if from_ms < ms <= to_ms})


def _only(found: list[Change], what: str) -> Change:
    if len(found) != 1:
        raise Contradiction(f"{len(found)} transactions of the kind `{what}`, not one")
    return found[0]
