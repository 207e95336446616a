"""What the brokers of a world know besides ZooKeeper, as the sampler last said it."""

from __future__ import annotations

import msgspec

from zklake.events.samples import Commit, GroupState, LogEnd


class Brokers(msgspec.Struct):
    """Commits, groups and log ends; `since_seq`: from where on all of the groups was said."""

    commits: dict[tuple[str, str, int], Commit] = {}
    groups: dict[str, GroupState] = {}
    ends: dict[tuple[str, int], LogEnd] = {}
    since_seq: int | None = None
    has_base: bool = False
