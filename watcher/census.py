"""Counting the children: how many creates and deletes under each parent the log has.

A parent's cversion counts all there were; the difference to those in the log is what nobody saw.
Paths are the model's. No clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from watcher.drafts import Draft
from watcher.long_paths import PARENT_CHARS
from watcher.messages import ZnodeStat
from watcher.tree import Counted, Tree, parent_of

# The cversion of a parent whose birth nobody saw, until a scan has met all its children: which of
# its child changes came before its own is unknown. (The root's real one starts at -1.)
UNCOUNTED = -(1 << 31)


class Census:
    """The child counts of the model, and what a scan under way still owes them."""

    def __init__(self, tree: Tree, touch: Callable[[str], None]) -> None:
        """`touch` hears of every row whose counts have changed."""
        # Child creates + deletes that a parent's cversion shows and no event has shown yet.
        self._debt: dict[str, int] = {}
        # Parents still uncounted, as their read showed them: cversion and children.
        self._first_counts: dict[str, tuple[int, int]] = {}
        # Child changes of a parent not in the model yet: how many, and the children left.
        self._early: dict[str, tuple[int, int]] = {}
        self._tree = tree
        self._touch = touch

    def owe(self, path: str, stat: ZnodeStat) -> None:
        """A parent was read: its cversion says how many child changes there really were."""
        known = self._tree.counted(path)
        if known is None or known.row.czxid != stat.czxid or len(path) > PARENT_CHARS:
            return
        self._debt.pop(path, None)
        if known.cversion == UNCOUNTED:
            self._first_counts[path] = (stat.cversion, stat.num_children)
        elif stat.cversion != known.cversion:
            self._debt[path] = stat.cversion - known.cversion

    def start(self, path: str, cversion: int, num_children: int) -> None:
        """First sight of a parent: count its children's changes from here."""
        self._tree.set_counts(path, cversion, num_children)
        self._touch(path)

    def settle(self) -> Iterator[tuple[str, int]]:
        """Parents under which lives came and went unseen, with their number: two changes each.

        A parent's count is put right as it is handed out: its row and what is said of it must
        stand in one batch.
        """
        debts, self._debt = self._debt, {}
        for path, counts in self._first_counts.items():
            self.start(path, *counts)
        self._first_counts.clear()
        for path, owed in sorted(debts.items()):
            known = self._tree.counted(path)
            if known is None or owed == 0:
                continue
            self.start(path, known.cversion + owed, known.num_children)
            if owed > 1:
                yield path, owed // 2
        self._early.clear()

    def forget(self) -> None:
        """The scan that would have settled the debts broke off."""
        self._debt.clear()
        self._early.clear()
        self._first_counts.clear()

    def drop(self, path: str) -> None:
        """A parent is gone, like its count."""
        self._early.pop(path, None)
        self._debt.pop(path, None)
        self._first_counts.pop(path, None)

    def first_counts(self, draft: Draft, known: Counted | None) -> tuple[int, int]:
        """A life born in sight starts with what is known of it, an unseen one uncounted."""
        if draft.op != "create" and known is not None:
            return known.cversion, known.num_children
        changes, left = self._early.pop(draft.path, (0, 0))
        return (changes if draft.origin == "watch" else UNCOUNTED), left

    def count(self, draft: Draft, born: bool) -> None:
        """A child's create or delete is written: one more under its parent."""
        parent = parent_of(draft.path)
        # Without a model nothing is counted: the parent's own cversion starts the count.
        if parent is None or draft.origin == "scan" or len(parent) > PARENT_CHARS:
            return
        known = self._tree.counted(parent)
        if known is None:
            self._count_early(parent, draft, born)
        elif draft.stat is not None and 0 < (draft.stat.czxid or 0) < known.row.czxid:
            # A child of the parent's former life: its count went with that.
            return
        else:
            self._touch(parent)
            self._count_known(parent, known, born, draft.origin == "watch")

    def _count_early(self, parent: str, draft: Draft, born: bool) -> None:
        if not born and draft.origin != "watch":
            # A child of a parent that is gone, like its count.
            return
        changes, left = self._early.get(parent, (0, 0))
        self._early[parent] = (changes + 1, left + (1 if born else -1))

    def _count_known(self, parent: str, known: Counted, born: bool, watched: bool) -> None:
        step = 1 if born else -1
        if known.cversion == UNCOUNTED:
            self._tree.set_counts(parent, UNCOUNTED, known.num_children + step)
            if watched and parent in self._first_counts:
                cversion, children = self._first_counts[parent]
                self._first_counts[parent] = (cversion + 1, children + step)
            return
        self._tree.set_counts(parent, known.cversion + 1, known.num_children + step)
        if not watched:
            # Also below zero: the parent may be another life than the one we counted.
            self._debt[parent] = self._debt.get(parent, 0) - 1
