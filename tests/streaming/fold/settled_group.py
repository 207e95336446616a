"""A group that has settled, for what happens to it next; and the one episode that it makes."""

from __future__ import annotations

from tests.streaming.fold.group_log import GroupLog, Row, fold

QUIET, FAIL = 2500, 10_000


def settle(log: GroupLog) -> GroupLog:
    """Time enough for everything to be over."""
    log.wait(FAIL + 60_000)
    return log


def pair(partitions: int = 4) -> GroupLog:
    """A group of `g_a`, who owns every partition of `t`; settled."""
    log = GroupLog()
    log.topic("t", partitions)
    log.join("g_a")
    log.claim("g_a", *range(partitions))
    log.wait(60_000)
    return log


def only(log: GroupLog, skip: int = 1) -> Row:
    """The one episode that follows those that the beginning makes."""
    ended, open_rows = fold(settle(log))
    assert open_rows == []
    assert len(ended) == skip + 1
    return ended[skip]


def pick(row: Row, *names: str) -> list[object]:
    return [row[name] for name in names]
