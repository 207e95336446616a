"""A lake that a real fold writes into, batch after batch: every table says which batch it is of."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from delta_tables.live.tables import Tables
from streaming.batch import Fold
from streaming.lake.lake import Lake
from streaming.lake.progress import LakeProgress
from streaming.log.records import Record
from zklake.events.envelope import Event, Stat, encode

CLUSTER = "c"
_BORN_MS = 1_794_793_200_000
# By table, a query that tells the number of the last batch.
NUMBERS = {
    "topics": "SELECT znode_version AS n FROM topics WHERE is_open",
    "partition_state": "SELECT leader AS n FROM partition_state WHERE is_open",
    "consumer_offsets": "SELECT committed_offset AS n FROM consumer_offsets WHERE is_open",
    "znode_events": "SELECT max(stat['version']) AS n FROM znode_events",
}


class GrowingLake:
    """One topic, one partition, one group; batch n changes all of them to n."""

    def __init__(self, path: str) -> None:
        self.path, self.number, self._seq = path, 0, 0
        lake = Lake(path, CLUSTER)
        lake.create_tables()
        self._fold = Fold(lake, LakeProgress(), f"zklake.{CLUSTER}")

    def fold_batch(self) -> None:
        self.number += 1
        events = list(self._happen(self.number))
        first = self._seq - len(events)
        self._fold.fold_batch(
            [Record(first + at, encode(event), 0) for at, event in enumerate(events)]
        )

    def _happen(self, n: int) -> Iterator[Event]:
        topic = "/brokers/topics/t"
        yield self._set("topic", topic, f'{{"version":1,"partitions":{{"0":[{n}]}}}}')
        state = f'{{"controller_epoch":1,"leader":{n},"version":1,"leader_epoch":1,"isr":[{n}]}}'
        yield self._set("partition_state", f"{topic}/partitions/0/state", state)
        yield self._set("offset", "/consumers/g/offsets/t/0", str(n))

    def _set(self, kind: str, path: str, data: str) -> Event:
        self._seq += 1
        n, at_ms = self.number, _BORN_MS + 1000 * self._seq
        return Event(
            CLUSTER,
            "log",
            self._seq,
            "create" if n == 1 else "set",
            at_ms,
            path=path,
            kind=kind,
            zxid=self._seq,
            data=data,
            stat=Stat(czxid=1, mzxid=self._seq, ctime=_BORN_MS, mtime=at_ms, version=n),
            origin="watch",
        )

    @contextmanager
    def growing(self) -> Iterator[None]:
        """Batches without a pause, from another thread."""
        is_over = threading.Event()
        failures: list[BaseException] = []

        def grow() -> None:
            try:
                while not is_over.is_set():
                    self.fold_batch()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=grow)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        assert not failures


def read_numbers(tables: Tables, rounds: int = 1) -> list[int]:
    """What each table says, asked one after the other."""
    found = []
    for _ in range(rounds):
        for name, sql in NUMBERS.items():
            found += [row["n"] for row in tables.ask(sql, name)]
    return found
