"""Records of `__consumer_offsets`, thinned to the last of each key per interval. Pure.

Nothing is decoded before it is said, so a commit that is overtaken costs next to nothing. Memory:
two raw records per live key at most, and of group states what STATE_BYTES allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from zklake.events.offsets_topic.records import GROUP_KEY, decode_record
from zklake.events.payloads.reading import Unreadable
from zklake.events.samples import Commit, GroupState
from zklake.name_patterns import Names

# Group states come in all their versions, since each is a rebalance; above this, the last of each
# group only: its generation then shows how many were passed over.
STATE_BYTES = 8 << 20
_GROUP_PREFIX = GROUP_KEY.to_bytes(2, "big")


class Record(NamedTuple):
    """One record; a value of None is a tombstone."""

    key: bytes
    value: bytes | None
    at_ms: int


class Taken(NamedTuple):
    """What an interval came to; `seen` counts all commits, `unreadable` what nobody can read."""

    states: list[GroupState]
    commits: list[Commit]
    seen: int = 0
    unreadable: int = 0


class Thinner:
    """What waits to be said, by partition of the offsets topic."""

    def __init__(self, state_bytes: int = STATE_BYTES) -> None:
        self._limit = self._threshold = state_bytes
        self._commits: dict[int, dict[bytes, Record]] = {}
        self._states: dict[int, list[Record]] = {}
        self._held_bytes = 0
        self._caught_up: set[int] = set()
        # What was last said of each key that stands.
        self._said: dict[int, dict[bytes, Record]] = {}
        self._seen = 0

    @property
    def waiting(self) -> int:
        """Records that wait to be said."""
        return sum(map(len, self._commits.values())) + sum(map(len, self._states.values()))

    def add(self, partition: int, record: Record) -> None:
        """Take one record, in the order of its partition."""
        if _is_state(record):
            self._add_state(partition, record)
            return
        self._seen += 1
        waiting = self._commits.setdefault(partition, {})
        if record.value is None and partition not in self._caught_up:
            # Not said by us yet: the end of the first reading says that all else is gone.
            waiting.pop(record.key, None)
        else:
            waiting[record.key] = record

    def catch_up(self, partition: int) -> None:
        """Everything that stood in this partition has been added."""
        if partition not in self._caught_up:
            self._caught_up.add(partition)
            kept = _keep_last(self._states.get(partition, []))
            self._states[partition] = [r for r in kept if r.value is not None]
            self._weigh()

    def is_caught_up(self, partition: int) -> bool:
        """Whether this partition has been read to its end once."""
        return partition in self._caught_up

    def take(self) -> tuple[list[Record], int]:
        """What may be said: of partitions still being read for the first time, nothing.

        And how many commits were seen for it.
        """
        seen, self._seen = self._seen, 0
        records: list[Record] = []
        for partition in self._caught_up:
            fresh = [*self._states.pop(partition, ()), *self._commits.pop(partition, {}).values()]
            self._remember(partition, fresh)
            records += fresh
        self._weigh()
        return records, seen

    def emit_all(self) -> None:
        """The next take has all that stands, not only what is new."""
        for partition, said in self._said.items():
            states = [each for each in said.values() if _is_state(each)]
            commits = {key: each for key, each in said.items() if not _is_state(each)}
            self._states[partition] = states + self._states.get(partition, [])
            self._commits[partition] = commits | self._commits.get(partition, {})
        self._weigh()

    def _remember(self, partition: int, records: list[Record]) -> None:
        said = self._said.setdefault(partition, {})
        for record in records:
            if record.value is None:
                said.pop(record.key, None)
            else:
                said[record.key] = record

    def _add_state(self, partition: int, record: Record) -> None:
        waiting = self._states.setdefault(partition, [])
        waiting.append(record)
        self._held_bytes += len(record.value or b"")
        if self._held_bytes > self._threshold:
            self._states = {p: _keep_last(records) for p, records in self._states.items()}
            self._weigh()

    def _weigh(self) -> None:
        self._held_bytes = sum(len(r.value or b"") for rs in self._states.values() for r in rs)
        # What is left may be one each: not thinned again before as much has come once more.
        self._threshold = max(self._limit, 2 * self._held_bytes)


def _is_state(record: Record) -> bool:
    return record.key[:2] == _GROUP_PREFIX


def decode_all(records: Iterable[Record], seen: int, groups: Names) -> Taken:
    """Commits and states of the groups that are followed."""
    states: list[GroupState] = []
    commits: list[Commit] = []
    unreadable = 0
    for key, value, at_ms in records:
        decoded = decode_record(key, value, at_ms)
        if isinstance(decoded, Unreadable):
            unreadable += 1
        elif decoded is None or not groups.holds(decoded.group_id):
            continue
        elif isinstance(decoded, Commit):
            commits.append(decoded)
        else:
            states.append(decoded)
    return Taken(states, commits, seen, unreadable)


def _keep_last(records: list[Record]) -> list[Record]:
    return list({record.key: record for record in records}.values())
