"""A large batch, divided between Spark tasks: what each is given, what it makes, and all together.

Plain values: nothing of Spark here.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from streaming.fold.open_rows import Key
from streaming.fold.part import PackedRows
from streaming.lake.new_files import NewFile
from streaming.log.continuity import Entry
from zklake.events.envelope import decode


class Work(NamedTuple):
    """What every task must know."""

    cluster: str
    # None: the lake has none yet.
    log_id: str | None
    topic: str
    ingested_at: datetime
    # The open rows of each table.
    rows: Mapping[str, PackedRows]


class Left(msgspec.Struct, frozen=True, array_like=True):
    """A record that the walk over the whole log must see."""

    offset: int
    value: bytes
    # Its row in znode_events and in its own table is made.
    is_folded: bool


class Outcome(msgspec.Struct, array_like=True):
    """What one task has made."""

    # Why the driver must fold the whole batch by itself; then nothing else counts.
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

    # The last of the events before that were folded elsewhere, if there are any.
    passed: Head | None
    entry: Entry | None
    is_folded: bool = False


@dataclass(frozen=True)
class Division:
    """A batch that tasks have folded, each a part of it."""

    log_id: str
    # Where every record stands, in order: as many of one kind as of the other.
    offsets: pa.Array
    seqs: pa.Array
    times: pa.Array
    left: list[Left]
    outcomes: Sequence[Outcome] = field(repr=False)

    def __len__(self) -> int:
        return len(self.offsets)

    def find_head(self, number: int) -> Head:
        """Where the record with that number stands; -1: the last."""
        number %= len(self)
        return Head(*(each[number].as_py() for each in (self.offsets, self.seqs, self.times)))

    @property
    def latest_ms(self) -> int:
        """When the last of them was observed; no clock is trusted to go forward only."""
        latest: int = pc.max(self.times).as_py()
        return latest

    def list_steps(self) -> Iterator[Step]:
        """The way of the walk over the whole log."""
        offsets = pa.array([record.offset for record in self.left], pa.int64())
        last = -1
        for number, record in zip(pc.index_in(offsets, self.offsets), self.left, strict=True):
            place: int = number.as_py()
            passed = self.find_head(place - 1) if place > last + 1 else None
            yield Step(passed, Entry(decode(record.value), record.offset), record.is_folded)
            last = place
        if last < len(self) - 1:
            yield Step(self.find_head(-1), None)

    def list_changed(self, table: str) -> Iterator[tuple[Key, bytes | None]]:
        """Open rows of a table as they are now."""
        for outcome in self.outcomes:
            for key, packed in outcome.changed.get(table, ()):
                yield tuple(key), packed

    def gather_files(self) -> dict[str, list[NewFile]]:
        """Files of rows, by table."""
        files: dict[str, list[NewFile]] = {}
        for outcome in self.outcomes:
            for name, made in outcome.files.items():
                files.setdefault(name, []).extend(made)
        return files


def merge(outcomes: Sequence[Outcome]) -> Division | str:
    """What all parts say together, or why the driver must fold the batch by itself."""
    for outcome in outcomes:
        if outcome.refusal is not None:
            return outcome.refusal
    logs = {outcome.log_id for outcome in outcomes if outcome.log_id is not None}
    if len(logs) != 1:
        return "it holds records of several logs" if logs else "it holds nothing"
    packed = zip(*((each.offsets, each.seqs, each.times) for each in outcomes), strict=True)
    heads = pa.table([_unpack(b"".join(each)) for each in packed], names=Head._fields)
    offsets, seqs, times = (each.combine_chunks() for each in heads.sort_by("offset").columns)
    if pc.any(pc.not_equal(pc.pairwise_diff(seqs), 1)).as_py():
        return "its seq has a hole, or repeats itself"
    left = sorted((one for each in outcomes for one in each.left), key=lambda one: one.offset)
    return Division(logs.pop(), offsets, seqs, times, left, outcomes)


def pack(numbers: Sequence[int]) -> bytes:
    """Numbers as bytes."""
    return array("q", numbers).tobytes()


def _unpack(packed: bytes) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), len(packed) // 8, [None, pa.py_buffer(packed)])
