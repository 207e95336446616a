"""A rebalance storm: members join a group and leave it, one after the other, and all claim anew.

Each join or leave makes every owner give up its partition and claim one again, as the old consumer
does. The log is folded in batches as a stream would; the control is the storm's own time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.figures import Figure
from bench.records import make_records
from bench.stage import Stage
from zklake.events.envelope import SEQ_PER_SECOND, Event, Op, Stat, encode

_CLUSTER = "bench"
_TOPIC, _GROUP = "orders", "readers"
_BORN_MS = 1_794_793_200_000
_FIRST_SEQ = 1_700_000_000 * SEQ_PER_SECOND
# A rebalance is over when nothing happened for 2.5 s.
_PAUSE_MS = 4_000
_BATCH = 5_000
_REGISTRATION = '{"version":1,"subscription":{"orders":1},"pattern":"static","timestamp":"1"}'


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds of the fold ÷ seconds of the storm, and whether the episodes are all there."""
    members, partitions = (20, 20) if quick else (200, 200)
    storm = list(_Storm(partitions).rage(members))
    seconds, episodes = _fold(str(stage.directory / "storm"), storm)
    raged_s = (storm[-1].observed_at_ms - storm[0].observed_at_ms) / 1000
    return [
        Figure(
            f"fold ÷ storm of {members} members, {partitions} partitions",
            [seconds / raged_s],
            "×",
            "≤ 1",
        ),
        Figure("events", [len(storm)], ""),
        Figure("events folded", [len(storm) / seconds], "events/s"),
        Figure("episodes found ÷ joins and leaves", [episodes / (2 * members)], "×", "1"),
    ]


def _fold(path: str, storm: list[Event]) -> tuple[float, int]:
    from delta_tables.reading import read_rows
    from streaming.batch import Fold
    from streaming.lake.lake import Lake
    from streaming.lake.progress import LakeProgress

    lake = Lake(path, _CLUSTER)
    lake.create_tables()
    fold = Fold(lake, LakeProgress(), f"zklake.{_CLUSTER}")
    began = time.monotonic()
    for first in range(0, len(storm), _BATCH):
        values = [encode(event) for event in storm[first : first + _BATCH]]
        fold.fold_batch(make_records(values, first))
    fold.finish()
    seconds = time.monotonic() - began
    (found,) = read_rows(path, _CLUSTER, "SELECT count(*) AS n FROM rebalances")
    return seconds, found["n"]


class _Storm:
    """Writes what the watcher would."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._seq, self._at_ms = _FIRST_SEQ, _BORN_MS
        self._members: list[str] = []
        self._owned: dict[int, str] = {}

    def rage(self, members: int) -> Iterator[Event]:
        """All join, all leave; and a breath at the end, so that the last one is over."""
        assigned = ",".join(f'"{number}":[0]' for number in range(self._partitions))
        yield self._say(
            "create",
            "topic",
            f"/brokers/topics/{_TOPIC}",
            f'{{"version":1,"partitions":{{{assigned}}}}}',
        )
        for number in range(members):
            member = f"readers_m{number:03}"
            self._members.append(member)
            yield self._say(
                "create", "consumer", self._registration(member), _REGISTRATION, session=number + 1
            )
            yield from self._rebalance()
        for _ in range(members):
            member = self._members.pop()
            mine = [number for number, owner in self._owned.items() if owner == member]
            yield self._say("delete", "consumer", self._registration(member))
            for number in mine:
                yield self._release(number)
            yield from self._rebalance()
        self._at_ms += _PAUSE_MS
        yield self._say("create", "topic", "/brokers/topics/later", '{"version":1,"partitions":{}}')

    def _rebalance(self) -> Iterator[Event]:
        for number in list(self._owned):
            yield self._release(number)
        for number in range(self._partitions if self._members else 0):
            member = self._members[number * len(self._members) // self._partitions]
            self._owned[number] = member
            session = int(member[-3:]) + 1
            yield self._say("create", "owner", self._place(number), f"{member}-0", session=session)
        self._at_ms += _PAUSE_MS

    def _release(self, number: int) -> Event:
        del self._owned[number]
        return self._say("delete", "owner", self._place(number))

    def _registration(self, member: str) -> str:
        return f"/consumers/{_GROUP}/ids/{member}"

    def _place(self, number: int) -> str:
        return f"/consumers/{_GROUP}/owners/{_TOPIC}/{number}"

    def _say(
        self, op: Op, kind: str, path: str, data: str | None = None, session: int = 0
    ) -> Event:
        self._seq += 1
        zxid = self._seq - _FIRST_SEQ
        stat = None
        if data is not None:
            stat = Stat(
                czxid=zxid,
                mzxid=zxid,
                ctime=self._at_ms,
                mtime=self._at_ms,
                version=0,
                ephemeral_owner=session,
            )
        return Event(
            _CLUSTER,
            "bench",
            self._seq,
            op,
            self._at_ms,
            path=path,
            kind=kind,
            zxid=zxid,
            data=data,
            stat=stat,
            origin="watch",
        )
