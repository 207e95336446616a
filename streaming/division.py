"""A large batch, divided between Spark tasks: what each is given, what it makes, and all together.

Plain values: nothing of Spark here.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.fold.open_rows import Key
from streaming.fold.part import PartStart
from streaming.lake.events import read_files
from streaming.lake.new_files import NewFile
from streaming.log.continuity import Entry
from zklake.events.envelope import Event, decode


class Work(NamedTuple):
    """What every task of a batch must know."""

    start: PartStart
    # None: the lake has none yet.
    log_id: str | None
    topic: str
    ingested_at: datetime


class Left(msgspec.Struct, frozen=True, array_like=True):
    """A record that the walk over the whole log must see."""

    offset: int
    value: bytes
    # Its row in znode_events and in its own table is made.
    is_folded: bool


class Outcome(msgspec.Struct, array_like=True):
    """What one task has made."""

    # Why it made nothing: then the driver must fold all of it by itself.
    refusal: str | None = None
    log_id: str | None = None
    # Of every record: its offset, its seq, and when it was observed; packed.
    offsets: bytes = b""
    seqs: bytes = b""
    times: bytes = b""
    left: list[Left] = []
    # By table: open rows as they are now, and files of rows that ended.
    changed: dict[str, list[tuple[list[str | int | None], bytes | None]]] = {}
    files: dict[str, list[NewFile]] = {}


class Head(NamedTuple):
    """Where one record stands, and when it was observed."""

    offset: int
    seq: int
    observed_at_ms: int


class Step(NamedTuple):
    """What the walk over the whole log does next."""

    # The last of the events before that are folded elsewhere, if there are any.
    passed: Head | None
    entry: Entry | None
    is_folded: bool = False


class Heads(NamedTuple):
    """Where all records of a stretch of the log stand, in order: as many of each."""

    offsets: pa.Array
    seqs: pa.Array
    times: pa.Array

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.seqs)

    def find(self, number: int) -> Head:
        """Where the record with that number stands; -1: the last."""
        number %= self.size
        return Head(*(each[number].as_py() for each in self))

    def list_steps(
        self, numbers: Sequence[int], left: Iterable[tuple[Entry, bool]]
    ) -> Iterator[Step]:
        """The way of the walk, which sees these entries; each with its number among the records."""
        places = pa.array([max(0, number - 1) for number in numbers], pa.int64())
        before = map(Head, *(each.take(places).to_pylist() for each in self))
        last = -1
        for number, head, (entry, is_folded) in zip(numbers, before, left, strict=True):
            yield Step(head if number > last + 1 else None, entry, is_folded)
            last = number
        if last < self.size - 1:
            yield Step(self.find(-1), None)


class Made(NamedTuple):
    """What all tasks have made, by table: open rows as they are now, and files of others."""

    changed: dict[str, list[tuple[Key, bytes | None]]]
    files: dict[str, list[NewFile]]


@dataclass(frozen=True)
class Division:
    """A batch that tasks have folded, each a part of it."""

    log_id: str
    heads: Heads
    left: list[Left]
    made: Made = field(repr=False)

    @property
    def latest_ms(self) -> int:
        """When the last of them was observed; no clock is trusted to go forward only."""
        latest: int = pc.max(self.heads.times).as_py()
        return latest

    def list_steps(self) -> Iterator[Step]:
        """The way of the walk over the whole log."""
        offsets = pa.array([record.offset for record in self.left], pa.int64())
        numbers = pc.index_in(offsets, self.heads.offsets).to_pylist()
        return self.heads.list_steps(
            numbers,
            ((Entry(decode(one.value), one.offset), one.is_folded) for one in self.left),
        )

    def read_states(self) -> Iterator[Event]:
        """Every event of a partition's state, in order."""
        files = self.made.files.get(ZNODE_EVENTS.name, [])
        return (entry.event for entry in read_files(files, PARTITION_STATE.kinds))


def gather(outcomes: Sequence[Outcome]) -> Made:
    """What tasks have made."""
    made = Made({}, {})
    for outcome in outcomes:
        for name, rows in outcome.changed.items():
            made.changed.setdefault(name, []).extend((tuple(key), packed) for key, packed in rows)
        for name, files in outcome.files.items():
            made.files.setdefault(name, []).extend(files)
    return made


def merge(outcomes: Sequence[Outcome]) -> Division | str:
    """What all parts say together, or why the driver must fold the batch by itself."""
    for outcome in outcomes:
        if outcome.refusal is not None:
            return outcome.refusal
    logs = {outcome.log_id for outcome in outcomes if outcome.log_id is not None}
    if len(logs) != 1:
        return "it holds records of several logs" if logs else "it holds nothing"
    packed = zip(*((each.offsets, each.seqs, each.times) for each in outcomes), strict=True)
    rows = pa.table([_unpack(b"".join(each)) for each in packed], names=Head._fields)
    heads = Heads(*(each.combine_chunks() for each in rows.sort_by("offset").columns))
    if pc.any(pc.not_equal(pc.pairwise_diff(heads.seqs), 1)).as_py():
        return "its seq has a hole, or repeats itself"
    left = sorted((one for each in outcomes for one in each.left), key=lambda one: one.offset)
    return Division(logs.pop(), heads, left, gather(outcomes))


def pack(numbers: Sequence[int]) -> bytes:
    """Numbers as bytes."""
    return array("q", numbers).tobytes()


def _unpack(packed: bytes) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), len(packed) // 8, [None, pa.py_buffer(packed)])
