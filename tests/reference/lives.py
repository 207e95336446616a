"""The changes of a log, sorted into lives: what one znode went through from create to delete."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.reference.tree import Change


@dataclass(eq=False)
class Life:
    """One znode's life. Numbers are indices into the list of changes."""

    path: str
    czxid: int
    # By data version; 0 is the create (absent for the root, which nobody created).
    versions: dict[int, int] = field(default_factory=dict)
    ended: int | None = None
    acls: list[int] = field(default_factory=list)

    @property
    def born(self) -> int | None:
        return self.versions.get(0)


class Lives:
    """Every life of a list of changes."""

    def __init__(self, changes: list[Change]) -> None:
        self.of_change: list[Life] = []
        self.of_path: dict[str, list[Life]] = {}
        self.changes = changes
        for index, change in enumerate(changes):
            life = self._find_or_begin(change)
            self.of_change.append(life)
            if change.op == "delete":
                life.ended = index
            elif change.op == "set_acl":
                life.acls.append(index)
            else:
                life.versions[change.version] = index

    def find(self, path: str, czxid: int, version: int = 0) -> Life | None:
        """The latest life of that czxid which reached that version."""
        for life in reversed(self.of_path.get(path, [])):
            if life.czxid == czxid and (version in life.versions or not life.versions):
                return life
        return None

    def at(self, path: str, index: int) -> Life | None:
        """The life of a path that was running just before the change of that index."""
        for life in reversed(self.of_path.get(path, [])):
            first = min([*life.versions.values(), *life.acls], default=life.ended)
            if first is not None and (life.born is None or first < index):
                return life if life.ended is None or life.ended >= index else None
        return None

    def over_by(self, until: int | None, since: int) -> Iterator[Life]:
        """Lives that ended after one zxid and not after another (None: at any time)."""
        for life in itertools.chain.from_iterable(self.of_path.values()):
            if life.ended is not None:
                zxid = self.changes[life.ended].zxid
                if since < zxid and (until is None or zxid <= until):
                    yield life

    def going_on(self, path: str, index: int) -> Life | None:
        """The first life of a path with a set or its delete at or after that index."""
        for life in self.of_path.get(path, []):
            later = [i for version, i in life.versions.items() if version > 0]
            if any(i >= index for i in (*later, -1 if life.ended is None else life.ended)):
                return life
        return None

    def next_life(self, life: Life) -> Life | None:
        """The life that followed on the same path."""
        lives = self.of_path[life.path]
        later = lives[lives.index(life) + 1 :]
        return later[0] if later else None

    def _find_or_begin(self, change: Change) -> Life:
        lives = self.of_path.setdefault(change.path, [])
        if change.op == "create" or not lives or lives[-1].ended is not None:
            lives.append(Life(change.path, change.czxid))
        return lives[-1]
