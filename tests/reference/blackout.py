"""A declared gap, from the moment the watcher lost sight to its in_sync, and what explains it.

What the counters of ZooKeeper can tell must have been told: only lives inside a parent that itself
came or went unseen, and the sets of a znode deleted unseen, may stay uncounted.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from tests.reference.ledger import Ledger
from tests.reference.lives import Life
from tests.reference.published import Published
from tests.reference.tree import split


@dataclass
class Blackout:
    """The changes nobody saw, and the counts the watcher gave for them."""

    # Before the log's first in_sync: nothing older was ever promised.
    is_first: bool = False
    # One-shot watches: the whole log is one blackout, and every event an inference.
    coalescing: bool = False
    base: str = "model"
    end_seq: float = math.inf
    blind: set[int] = field(default_factory=set)
    # Lives told of while it lasted, by reads or events, with their latest version.
    seen: dict[Life, int] = field(default_factory=dict)
    lives: Counter[str] = field(default_factory=Counter)
    # Children of which nobody can say whether they are the ones known before.
    renewed: Counter[str] = field(default_factory=Counter)
    # The newest zxid that any stat read meanwhile carries.
    newest_zxid: int = 0

    @property
    def is_open(self) -> bool:
        """No in_sync yet; the one of coalescing mode ends with the log."""
        return self.end_seq == math.inf and not self.coalescing

    def note(self, event: Published, life: Life | None) -> None:
        """Remember what was told while it lasts."""
        if not self.is_open:
            return
        zxids = (event.stat.get(name, 0) for name in ("czxid", "mzxid", "pzxid"))
        self.newest_zxid = max(self.newest_zxid, *zxids)
        if life is not None and event.op != "delete":
            self.seen[life] = max(self.seen.get(life, 0), event.version or 0)


class Explanation:
    """Says for each unseen change whether what was published accounts for it."""

    def __init__(self, blackout: Blackout, ledger: Ledger) -> None:
        self.blackout = blackout
        self.ledger = ledger

    def covers(self, index: int) -> bool:
        """Whether this unseen change is accounted for."""
        life = self.ledger.lives.of_change[index]
        if self.blackout.is_open or index in self.ledger.told or index in self.ledger.covered:
            return True
        if self._passed_unseen(life) or self._ended_in_sight(life, index):
            return True
        if self._is_out_of_sight(life):
            return True
        if self._was_replaced(life):
            return True
        is_framed = self.blackout.is_first or self.blackout.base == "none"
        return is_framed and self._is_in_frame(life, index)

    def check_lives(self) -> tuple[list[str], list[str]]:
        """(too few, too many): counts of unseen lives that the log does not bear out."""
        if self.blackout.is_first or self.blackout.is_open or self.blackout.base == "none":
            return [], []
        least, most = self._count_lives()
        few, many = [], []
        for parent in sorted({*least, *most, *self.blackout.lives}):
            told = self.blackout.lives[parent]
            text = f"{told} unseen lives told under {parent}, the log has {least[parent]}"
            if told < least[parent]:
                few.append(text)
            elif told > most[parent]:
                many.append(text)
        return few, many

    def _count_lives(self) -> tuple[Counter[str], Counter[str]]:
        least: Counter[str] = Counter()
        most: Counter[str] = Counter(self.blackout.renewed)
        for path in self.ledger.sealed:
            # Without a read right no event told of these: a parent's count may show them any time.
            most[split(path)[0]] += len(self.ledger.lives.of_path.get(path, []))
        for index in self.blackout.blind:
            life = self.ledger.lives.of_change[index]
            if life.born != index or index in self.ledger.told or life.path in self.ledger.sealed:
                continue
            # A birth that nobody told pairs with an end that nobody told: its own, or that of the
            # life before, when an event that could not name its life made one of the two.
            parent, _ = split(life.path)
            most[parent] += 1
            least[parent] += self._stood_by(parent, life)
        return least, most

    def _passed_unseen(self, life: Life) -> bool:
        blind = self.blackout.blind
        is_unseen = life.born not in self.ledger.told and life not in self.blackout.seen
        return is_unseen and life.born in blind and life.ended in blind

    def _is_out_of_sight(self, life: Life) -> bool:
        """Below a znode that may not be read, and never read itself: no listing shows it."""
        is_read = life in self.ledger.met and life not in self.ledger.unnamed
        return not is_read and self.ledger.is_below_sealed(life.path)

    def _ended_in_sight(self, life: Life, index: int) -> bool:
        """A told delete ends the counting: what this life went through before may stay unseen."""
        teller = self.ledger.told.get(-1 if life.ended is None else life.ended)
        if teller is None or index == life.ended:
            return False
        if index == life.born and self.blackout.coalescing:
            return False
        return teller.seq < self.blackout.end_seq

    def _was_replaced(self, life: Life) -> bool:
        """The end of a known life, when an event of a later one came before we looked, and could
        not name it: for the watcher the two are one."""
        if life.ended not in self.blackout.blind:
            return False
        following = self.ledger.lives.next_life(life)
        while following is not None and self._passed_unseen(following):
            following = self.ledger.lives.next_life(following)
        if following is None or following.born is None:
            return False
        unseen = following.born in self.blackout.blind and following.born not in self.ledger.told
        changes = (following.ended, *following.versions.values())
        tellers = [self.ledger.told[i] for i in changes if i is not None and i in self.ledger.told]
        first = min(tellers, default=None)
        return unseen and first is not None and self._is_nameless(first)

    def _is_nameless(self, event: Published) -> bool:
        """Once the watcher can name a life it knows that the one before it had ended."""
        return "czxid" not in event.stat and event.seq < self.blackout.end_seq

    def _is_in_frame(self, life: Life, index: int) -> bool:
        """A frame shows what is there; what it does not show must be gone."""
        if life not in self.blackout.seen:
            return life.ended in self.blackout.blind
        version = self.ledger.changes[index].version
        return index != life.ended and self.blackout.seen[life] >= version

    def _stood_by(self, parent: str, child: Life) -> bool:
        """Whether the parent is known and still there, so that its cversion could be compared."""
        assert child.born is not None
        life = self.ledger.lives.at(parent, child.born)
        if life is None:  # the root: nobody created it, nobody can delete it
            return parent == "/"
        is_known = life.born not in self.blackout.blind
        is_gone = life.ended in self.blackout.blind or self._ended_in_sight(life, -1)
        return is_known and not is_gone and self._is_countable(parent)

    def _is_countable(self, parent: str) -> bool:
        """Of sealed children no event tells: a parent's count may show them before or after."""
        sealed = self.ledger.sealed
        has_sealed = parent in sealed or any(split(path)[0] == parent for path in sealed)
        return not has_sealed and not self.ledger.is_below_sealed(parent)
