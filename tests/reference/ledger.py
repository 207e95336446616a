"""The book of one accounting: which event told which change, and every finding.

A change is told at most once; what a later event's `missed` counts is covered, not told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.reference.lives import Life, Lives
from tests.reference.published import Published, find_fault
from tests.reference.tree import Change


@dataclass
class Ledger:
    """What is known so far. Numbers are indices into `changes`."""

    changes: list[Change]
    sealed: frozenset[str]
    lives: Lives = field(init=False)
    told: dict[int, Published] = field(default_factory=dict)
    covered: dict[int, Published] = field(default_factory=dict)
    # The life each path has by what was published so far.
    known: dict[str, Life] = field(default_factory=dict)
    # Lives that any event or read told of.
    met: set[Life] = field(default_factory=set)
    # Lives whose latest event has no czxid.
    unnamed: set[Life] = field(default_factory=set)
    # Values that a read gave later: (life, version).
    read: set[tuple[Life, int]] = field(default_factory=set)
    faulty: dict[int, str] = field(default_factory=dict)
    phantoms: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lives = Lives(self.changes)

    def is_sealed(self, index: int) -> bool:
        return self.changes[index].path in self.sealed

    def know(self, path: str, life: Life) -> None:
        """By what was published, this life is the one at that path."""
        self.known[path] = life
        self.met.add(life)

    def is_below_sealed(self, path: str) -> bool:
        """No listing shows what is below a znode that may not be read."""
        return any(path.startswith(above + "/") for above in self.sealed)

    def tell(self, event: Published, index: int) -> None:
        """This event is this change."""
        if index in self.told or index in self.covered:
            self.phantoms.append(f"{event}: told before")
            return
        self.told[index] = event
        if fault := find_fault(event, self.changes[index]) or self._find_early_bound(event, index):
            self.faulty[index] = f"{event}: {fault}"
        self._remember(event, self.lives.of_change[index])
        self.cover(event, self.lives.of_change[index])

    def _find_early_bound(self, event: Published, index: int) -> str | None:
        """`zxid_min` is that of the life's last change known before: of an earlier transaction, or
        of this one, when it is a multi."""
        zxid = self.changes[index].zxid
        if event.zxid is not None or event.zxid_min != zxid:
            return None
        life = self.lives.of_change[index]
        before = (i for i in life.versions.values() if i < index and self.changes[i].zxid == zxid)
        is_multi = next(before, None) is not None
        return None if is_multi else f"zxid_min is {event.zxid_min}, its own transaction"

    def cover(self, event: Published, life: Life) -> None:
        """Versions before a set that nobody saw, as many as the event says."""
        if event.op != "set" or event.version is None:
            return
        self.cover_versions(event, life, range(event.version - event.missed, event.version))

    def cover_versions(self, event: Published, life: Life, versions: Iterable[int]) -> None:
        for version in versions:
            index = life.versions.get(version)
            # Version 0 is the create: an event of its own, never a missed data version.
            if index is None or version == 0 or index in self.told or index in self.covered:
                self.phantoms.append(
                    f"{event}: counts version {version} as missed, which it is not"
                )
            else:
                self.covered[index] = event

    def check_value(self, event: Published, life: Life) -> None:
        """Hold a value that was read against the log's value of that version."""
        version = event.version
        if version is None or (version not in life.versions and life.born is not None):
            self.phantoms.append(f"{event}: the log has no such version")
            return
        if version in life.versions:
            change = self.changes[life.versions[version]]
            if fault := find_fault(event, change):
                self.phantoms.append(f"{event}: {fault}")
        if event.fidelity != "superseded":
            self.read.add((life, version))

    def find_life(self, event: Published) -> Life | None:
        """The life an event speaks of: by czxid where it says one, else the one last known."""
        czxid = event.stat.get("czxid")
        if czxid is None:
            return self.known.get(event.path)
        return self.lives.find(event.path, czxid, event.version or 0)

    def find_index(self, event: Published) -> int | None:
        """The change an inferred event claims, if the log has it."""
        life = self.find_life(event)
        if life is None or not (event.op == "delete" or event.version in life.versions):
            return None
        told = {"create": life.born, "delete": life.ended}
        return told.get(event.op, life.versions.get(event.version or 0))

    def _remember(self, event: Published, life: Life) -> None:
        self.know(event.path, life)
        if event.op == "delete":
            self.known.pop(event.path, None)
        if "czxid" not in event.stat:
            self.unnamed.add(life)
        else:
            self.unnamed.discard(life)
