"""A draft: an event before it has its place in the log (seq) and its data has been sealed."""

from __future__ import annotations

from typing import NamedTuple

from watcher.messages import ZnodeStat
from watcher.tree import Row
from zklake.events.envelope import Fidelity, Frame, Gap, Op, Origin, Stat


class Draft(NamedTuple):
    """One event to be; `row` is what the model says once it is released (None: gone)."""

    op: Op
    path: str
    origin: Origin | None = None
    fidelity: Fidelity = "exact"
    stat: Stat | None = None
    zxid: int | None = None
    zxid_min: int | None = None
    missed: int | None = None
    data: bytes | None = None
    row: Row | None = None
    gap: Gap | None = None
    frame: Frame | None = None


def publish_stat(stat: ZnodeStat) -> Stat:
    """The whole stat of a znode just read."""
    (
        czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, length, children, pzxid,
    ) = stat  # fmt: skip
    # By place, in the order of its fields.
    return Stat(
        czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner, length, children
    )
