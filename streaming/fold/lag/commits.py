"""Committed offsets as they stand, of ZooKeeper and Kafka: what events and rows say of them. Pure.

The same states as the rows of consumer_offsets. A state counts for a round once the requests of
some round were sent after it; until then it waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from delta_tables.observation import read_millis
from streaming.fold.changes import GroupKey, PartitionKey
from streaming.fold.lag.group_partition import Commit, Facts, GroupPartition
from streaming.fold.life import State, find_moment, judge, read_state
from streaming.fold.payload import read_payload
from streaming.fold.row import Row
from zklake.events.envelope import Event
from zklake.events.payloads.consumer import Offset
from zklake.events.payloads.reading import LARGEST_INT, read_number
from zklake.events.samples import Commit as Said

_LONG = 2**63
# Of states that wait, the newest and then the last of each second: when the requests of the next
# round were sent, only its record shows. What is kept depends on later states alone, so it is the
# same after a restart, which meets none from before the last round.
_NEWEST = 8
MOST_WAITING = 16
# Ends of rows of consumer_offsets after which another row begins at once.
_FOLLOWED = ("changed", "recreated", "unreadable")


class Where(NamedTuple):
    """What a commit is about."""

    group: GroupKey
    partition: PartitionKey


def find_offset_znode(path: str) -> Where | None:
    """Whose offset stands at a path; None for 0.7's, which are byte positions."""
    parts = path.split("/")
    partition = read_number(parts[5]) if len(parts) == 6 else None
    if partition is None:
        return None
    return Where(GroupKey("zookeeper", parts[2]), PartitionKey(parts[4], partition))


def apply_znode(
    group_partition: GroupPartition, event: Event, incarnation: int | None, limit: int
) -> bool:
    """Take an event of an offset znode; whether it was news."""
    verdict = judge(event, group_partition.life)
    if verdict == "ended":
        return apply_end(group_partition, event.seq, "deleted", limit)
    if verdict == "seen":
        group_partition.seen_seq = event.seq
    if verdict in ("nothing", "seen"):
        return False
    moment = find_moment(event)
    group_partition.life = read_state(event)
    commit = Commit(event.seq, _read_offset(event), moment.at_ms, moment.zxid, incarnation)
    _wait(group_partition, commit, limit)
    return True


def _read_offset(event: Event) -> int | None:
    text = event.data
    if text is not None and text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    payload, _ = read_payload(event)
    return payload.offset if isinstance(payload, Offset) else None


def list_said(event: Event) -> Iterator[tuple[GroupKey, PartitionKey, Said]]:
    """The commits of a group_commit that can have a row."""
    group = GroupKey("kafka", "")
    for said in event.group_commit.commits if event.group_commit else ():
        if 0 <= said.partition <= LARGEST_INT:
            if said.group_id != group.group_id:
                group = GroupKey("kafka", said.group_id)
            yield group, PartitionKey(said.topic, said.partition), said


def apply_commit(
    group_partition: GroupPartition, said: Said, event: Event, incarnation: int | None, limit: int
) -> bool:
    """Take a commit of a Kafka-stored group; whether it was news."""
    if group_partition.seen_seq == event.seq:
        # Of a key that one record names twice the first counts.
        return False
    if said.tombstone:
        is_news = apply_end(group_partition, event.seq, "deleted", limit)
        group_partition.seen_seq = event.seq
        return is_news
    offset = said.committed_offset
    if offset is not None and not -_LONG <= offset < _LONG:
        offset = None
    latest = group_partition.waiting[-1] if group_partition.waiting else group_partition.commit
    is_news = not group_partition.has_commit or latest is None or latest.offset != offset
    if is_news:
        at_ms = event.observed_at_ms if said.commit_at_ms is None else said.commit_at_ms
        _wait(
            group_partition, Commit(event.seq, offset, read_millis(at_ms), None, incarnation), limit
        )
    group_partition.seen_seq = event.seq
    return is_news


def apply_end(group_partition: GroupPartition, seq: int, word: str, limit: int) -> bool:
    """The commit no longer stands; whether it did."""
    if not group_partition.has_commit:
        return False
    _wait(group_partition, Commit(seq, is_gone=True), limit)
    group_partition.has_commit, group_partition.life, group_partition.gone_by = False, None, word
    return True


def find_limit(after_seq: int | None) -> int:
    """How many states may wait: before the first round nobody knows for what."""
    return 1 if after_seq is None else MOST_WAITING


def _wait(group_partition: GroupPartition, commit: Commit, limit: int) -> None:
    waiting = group_partition.waiting
    waiting.append(commit)
    if len(waiting) > _NEWEST and _is_same_second(*waiting[-_NEWEST - 1 :][:2]):
        del waiting[-_NEWEST - 1]
    if len(waiting) > limit:
        del waiting[:-limit]
    group_partition.has_commit, group_partition.seen_seq = True, commit.seq


def _is_same_second(earlier: Commit, later: Commit) -> bool:
    if earlier.at_ms is None or later.at_ms is None:
        return False
    return earlier.at_ms // 1000 == later.at_ms // 1000


def take_over(
    group_partition: GroupPartition, after_seq: int, at_ms: int, *, with_facts: bool
) -> bool:
    """Let the states count that came up to there; whether there were any."""
    facts = group_partition.facts if with_facts else None
    if facts is not None:
        remember(group_partition, facts)
    count = 0
    for commit in group_partition.waiting:
        if commit.seq > after_seq:
            break
        count += 1
        if facts is not None and not commit.is_gone:
            _learn(facts, commit, group_partition.partition.topic_incarnation, at_ms)
        group_partition.commit = None if commit.is_gone else commit
    del group_partition.waiting[:count]
    return count > 0


def is_other(zxid: int | None, incarnation: int | None, current: int | None) -> bool:
    """Whether a commit speaks of another incarnation of the topic than the one that stands.

    ZooKeeper's own order decides, also where the log met the two in another one.
    """
    if current is None:
        return False
    return incarnation not in (None, current) if zxid is None else zxid < current


def remember(group_partition: GroupPartition, facts: Facts) -> None:
    """Keep of which incarnation the last known offset is."""
    commit = group_partition.commit
    if commit is not None and commit.offset is not None and commit.offset >= 0:
        facts.zxid, facts.incarnation = commit.zxid, commit.incarnation


def forget_other(facts: Facts, current: int | None) -> None:
    """Offsets of another topic of that name say nothing of this one's."""
    if is_other(facts.zxid, facts.incarnation, current):
        facts.offset = facts.rewound_from = facts.rewound_ms = None


def _learn(facts: Facts, commit: Commit, current: int | None, at_ms: int) -> None:
    """What a commit says of progress; `at_ms`: when the round came that made it count."""
    offset = commit.offset
    if offset is None or offset < 0:
        return
    then = min(at_ms if commit.at_ms is None else max(commit.at_ms, facts.progress_ms), at_ms)
    forget_other(facts, current)
    if facts.offset is None or offset > facts.offset:
        facts.progress_ms = then
    elif offset < facts.offset:
        facts.rewound_from = max(facts.rewound_from or 0, facts.offset)
        facts.rewound_ms = then if facts.rewound_ms is None else facts.rewound_ms
    if facts.rewound_from is not None and offset >= facts.rewound_from:
        facts.rewound_from = facts.rewound_ms = None
    facts.offset, facts.zxid, facts.incarnation = offset, commit.zxid, commit.incarnation


def recall_commit(
    group_partition: GroupPartition,
    row: Row,
    incarnation: int | None,
    seq: int,
    after_seq: int | None,
) -> None:
    """Take up a row of consumer_offsets as it stood at `seq`; they come in their order."""
    limit = find_limit(after_seq)
    if after_seq is not None:
        take_over(group_partition, after_seq, 0, with_facts=False)
    offset, at_ms, zxid = row["committed_offset"], row["valid_from_at"], row["valid_from_zxid"]
    _wait(group_partition, Commit(row["valid_from_seq"], offset, at_ms, zxid, incarnation), limit)
    group_partition.life = None
    if row["coordinator"] == "zookeeper":
        group_partition.life = State(row["czxid"], row["znode_version"], row["fidelity"] or "exact")
    group_partition.seen_seq = row["seen_seq"]
    ended_seq, word = row["valid_to_seq"], row["ended_by"]
    if ended_seq is not None and ended_seq <= seq and word not in _FOLLOWED:
        apply_end(group_partition, ended_seq, "resync" if word == "resync" else "deleted", limit)
