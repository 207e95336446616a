"""Lives that the watcher could not name: no czxid, because it never read them.

Inside a gap a set or delete may come of a life nobody knew: it must have been there, and that is
said without czxid and version. Which life it was, the change that follows tells. And a life told
without czxid cannot be known again after a gap: the next read names what is there, no more.
"""

from __future__ import annotations

from tests.reference.blackout import Blackout
from tests.reference.ledger import Ledger
from tests.reference.lives import Life
from tests.reference.published import Published

Inferred = list[tuple[Blackout, int, Published]]


class Naming:
    """Gives each nameless event its life; what it infers must turn out to have been unseen."""

    def __init__(self, ledger: Ledger, inferred: Inferred) -> None:
        self.ledger = ledger
        self.inferred = inferred
        self.waiting: dict[str, Published] = {}

    def take(self, event: Published, *, may_hide: bool) -> None:
        """A znode that must have been there."""
        if not may_hide or event.path in self.waiting:
            self.ledger.phantoms.append(f"{event}: no czxid, and no gap that could hide it")
        self.waiting[event.path] = event

    def name(self, event: Published, life: Life, blackout: Blackout) -> None:
        """The watch event that made the watcher say that this life must have been there."""
        nameless = self.waiting.pop(event.path, None)
        if nameless is None:
            return
        if event.op == "create":
            self._refuse(nameless)
            return
        self._give(nameless, life, blackout)
        if event.op == "delete":
            self.ledger.known.pop(event.path, None)

    def name_by_place(self, path: str, index: int, blackout: Blackout) -> None:
        """One-shot watches, or a crash before the change that follows: a life that went on."""
        nameless = self.waiting.pop(path, None)
        life = self.ledger.lives.going_on(path, index)
        if nameless is not None and life is not None:
            self._give(nameless, life, blackout)
        elif nameless is not None:
            self._refuse(nameless)

    def lose_sight(self, gap: Published, index: int, blackout: Blackout) -> None:
        """Only a crash may keep back the change that follows: it was not committed."""
        for path in list(self.waiting):
            if gap.gap.get("reason") == "restart":
                self.name_by_place(path, index, blackout)
        self.refuse_all()

    def refuse_all(self) -> None:
        """From here nothing can follow."""
        for nameless in self.waiting.values():
            self._refuse(nameless)
        self.waiting.clear()

    def compare(self, event: Published, life: Life, blackout: Blackout) -> None:
        """A read where the life known had no czxid stands for all that the gap hid of the two."""
        before = self.ledger.known.get(event.path)
        if before not in self.ledger.unnamed:
            return
        if not blackout.is_open and not self.ledger.is_below_sealed(event.path):
            return
        versions = range(1, 1 + (event.version or 0))
        hidden = [life.versions[version] for version in versions if version in life.versions]
        if before is not life:
            ends = (before.ended, life.born, *before.versions.values())
            hidden += [index for index in ends if index is not None]
        for index in hidden:
            if index not in self.ledger.told and index not in self.ledger.covered:
                self.ledger.covered[index] = event
                self.inferred.append((blackout, index, event))

    def _give(self, nameless: Published, life: Life, blackout: Blackout) -> None:
        blackout.note(nameless, life)
        self.ledger.know(nameless.path, life)
        self.ledger.unnamed.add(life)
        if nameless.op == "create" and life.born is not None:
            self.inferred.append((blackout, life.born, nameless))
            self.ledger.tell(nameless, life.born)

    def _refuse(self, nameless: Published) -> None:
        self.ledger.phantoms.append(f"{nameless}: no change of that life follows")
