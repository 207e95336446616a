"""The numbers of a group's partition at a round: lag, its time, its pace, what is at risk. Pure."""

from __future__ import annotations

import msgspec

from streaming.fold.lag.commits import is_other
from streaming.fold.lag.curve import HOUR_MS, NOTHING_LEFT, UNKNOWN, Seconds
from streaming.fold.lag.group_partition import Commit, GroupPartition, Point, Reference
from streaming.fold.lag.partition import Partition
from streaming.fold.lag.status import TOPIC_GONE

_YEAR_MS = 365 * 24 * HOUR_MS


class Measure(msgspec.Struct, frozen=True, gc=False):
    """How far a commit is behind the log's end, and how that lies in what the log still holds."""

    lag: int | None
    raw_lag: int | None
    seconds: Seconds
    retention_share: float | None
    lost_records: int | None


UNMEASURED = Measure(None, None, UNKNOWN, None, None)


def find_reason(group_partition: GroupPartition, partition: Partition) -> str | None:
    """Why there is no lag; None: there is one."""
    commit = group_partition.commit
    if commit is None:
        return "no_commit"
    if commit.offset is None or commit.offset < 0:
        return "no_offset"
    if not partition.has_topic and not partition.is_open:
        return TOPIC_GONE
    if is_other(commit.zxid, commit.incarnation, partition.topic_incarnation):
        return "other_incarnation"
    return partition.error if partition.is_open else "no_log_end"


def measure(commit: Commit | None, partition: Partition, at_ms: int) -> Measure:
    """The lag of a commit that there is no reason against (find_reason)."""
    start, end = partition.start, partition.end
    assert commit is not None
    assert commit.offset is not None
    assert start is not None
    assert end is not None
    committed = commit.offset
    raw_lag = end - committed
    lag, seconds = 0, NOTHING_LEFT
    if raw_lag > 0:
        # The lag as time of the log that is still to be read.
        lag, curve = raw_lag, partition.curve
        curve.thin(at_ms - at_ms % HOUR_MS)
        seconds = curve.measure(committed, partition.incarnation, end, partition.sampled_ms)
    share = lag / (end - start) if end > start else None
    return Measure(lag, raw_lag, seconds, share, start - committed if start > committed else 0)


def find_motion(
    reference: Reference, lag: int, committed: int, start: int, at_ms: int
) -> tuple[float, int | None]:
    """How fast lag grew since the reference (records/s); when the next record will be lost."""
    passed_ms = at_ms - reference.sampled_ms
    # How much nearer the log's start has come to the commit.
    nearing = (start - reference.start) - (committed - reference.committed)
    loss_at = None
    if nearing > 0 and committed >= start:
        left_ms = (committed - start) * passed_ms / nearing
        loss_at = at_ms + round(left_ms) if left_ms <= _YEAR_MS else None
    return (lag - reference.lag) / (passed_ms / 1000), loss_at


def find_others(group_partition: GroupPartition) -> tuple[int | None, int | None]:
    """The other coordinator's offset, and Kafka's less ZooKeeper's."""
    other = group_partition.twin.commit if group_partition.twin is not None else None
    if other is None or other.offset is None:
        return None, None
    mine: Commit | None = group_partition.commit
    if mine is None or mine.offset is None or mine.offset < 0 or other.offset < 0:
        return other.offset, None
    ahead = mine.offset - other.offset
    return other.offset, ahead if group_partition.group.key.coordinator == "kafka" else -ahead


def make_reference(point: Point, sampled_ms: int | None) -> Reference | None:
    """A row that ends, as the reference of the next one."""
    values = (sampled_ms, point.lag, point.committed_offset, point.log_start_offset)
    if None in values:
        return None
    return Reference(*values)  # type: ignore[arg-type]
