"""A draft: an event before it has its place in the log (seq) and its data has been sealed."""

from __future__ import annotations

from typing import NamedTuple

from watcher.messages import ZnodeStat
from watcher.tree import ZnodeRow
from zklake.events.envelope import Fidelity, Frame, Gap, Op, Origin, Stat
from zklake.events.samples import GroupCommits, GroupState, LogEnds, Sample


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
    row: ZnodeRow | None = None
    gap: Gap | None = None
    frame: Frame | None = None
    log_ends: LogEnds | None = None
    group_commit: GroupCommits | None = None
    group_state: GroupState | None = None


def draft_sample(sample: Sample) -> Draft:
    """A sample is about no znode: it has no path."""
    if isinstance(sample, LogEnds):
        return Draft("log_ends", "", log_ends=sample)
    if isinstance(sample, GroupCommits):
        return Draft("group_commit", "", group_commit=sample)
    is_cut = sample.members is None and bool(sample.member_count)
    fidelity: Fidelity = "oversize" if is_cut else "exact"
    return Draft("group_state", "", fidelity=fidelity, group_state=sample)


def publish_stat(stat: ZnodeStat) -> Stat:
    """The whole stat of a znode just read."""
    (
        czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, length, children, pzxid,
    ) = stat  # fmt: skip
    # By place, in the order of its fields.
    return Stat(
        czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner, length, children
    )
