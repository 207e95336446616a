"""Znodes of the tree beside open rows of the tables: where they differ. Pure.

A state is a life of a znode and a version of its data: ZooKeeper counts both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class State(NamedTuple):
    """What identifies one state of a znode; None: not known."""

    czxid: int | None
    version: int | None

    def is_same(self, other: State) -> bool:
        """Whether they may be one: what is not known contradicts nothing."""
        return all(None in pair or pair[0] == pair[1] for pair in zip(self, other, strict=True))


class OpenZnodeRow(NamedTuple):
    """An open row: of which state of its znode it speaks, and the seq that began it."""

    state: State
    seq: int


class ZnodeTable(NamedTuple):
    """A znode, and the table in which its state must stand."""

    table: str
    path: str


class Difference(NamedTuple):
    """A znode that the tree and the table do not agree on; None: it is not there."""

    place: ZnodeTable
    tree: State | None
    row: OpenZnodeRow | None


def find_differences(
    tree: Mapping[ZnodeTable, State],
    rows: Mapping[ZnodeTable, OpenZnodeRow],
    places: Iterable[ZnodeTable] | None = None,
) -> list[Difference]:
    """Of all places, or of these."""
    chosen = {*tree, *rows} if places is None else places
    found = (Difference(place, tree.get(place), rows.get(place)) for place in chosen)
    return sorted((one for one in found if not _agrees(one)), key=lambda one: one.place)


def _agrees(one: Difference) -> bool:
    if one.tree is None or one.row is None:
        return one.tree is None and one.row is None
    return one.tree.is_same(one.row.state)
