"""A generated lake that a bench goes on with: batches of what happens next in its cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench.aged_lake import World
from bench.records import make_records
from zklake.events.envelope import Event, Stat, encode

if TYPE_CHECKING:
    from streaming.batch import Fold

CLUSTER = "kafka"


class GeneratedLake:
    """A generated lake, and what happens next in its cluster."""

    def __init__(self, path: Path, world: World) -> None:
        self.path, self.world = str(path), world
        self._number = 0
        self._fold: Fold | None = None

    def start(self) -> None:
        """As a stream that just started would."""
        from streaming.batch import Fold
        from streaming.lake.lake import Lake
        from streaming.lake.progress import read_progress

        progress = read_progress(self.path, CLUSTER, f"zklake.{CLUSTER}")
        self._fold = Fold(Lake(self.path, CLUSTER), progress, f"zklake.{CLUSTER}")

    def fold_batch(self) -> float:
        """One batch that touches three tables; seconds it took."""
        assert self._fold is not None
        events = list(self._happen())
        offset = self.world.last_offset + 1 + self._number - len(events)
        records = make_records([encode(event) for event in events], offset)
        began = time.monotonic()
        self._fold.fold_batch(records)
        return time.monotonic() - began

    def _happen(self) -> Iterator[Event]:
        place = self._number // 3 % self.world.size.partitions
        state = f'{{"controller_epoch":2,"leader":{self._number},"version":1,"leader_epoch":1,'
        topic = f'{{"version":1,"partitions":{{"0":[{self._number % 1000}]}}}}'
        yield self._set("topic", "/brokers/topics/topic-0", topic)
        path = f"/brokers/topics/topic-0/partitions/{place}/state"
        yield self._set("partition_state", path, state + '"isr":[1]}')
        path = f"/consumers/group-0/offsets/topic-0/{place}"
        yield self._set("offset", path, str(self._number))

    def _set(self, kind: str, path: str, data: str) -> Event:
        self._number += 1
        number, world = self._number, self.world
        at_ms = world.start_ms + world.size.days * 86_400_000 + 100 * number
        zxid = 10**9 + number
        stat = Stat(czxid=1, mzxid=zxid, ctime=1, mtime=at_ms, version=10**6 + number)
        return Event(
            CLUSTER,
            world.log_id,
            world.last_seq + number,
            "set",
            at_ms,
            path=path,
            kind=kind,
            zxid=zxid,
            data=data,
            stat=stat,
            origin="watch",
        )
