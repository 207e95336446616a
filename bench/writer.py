"""One kazoo process that writes as fast as it can, or at a pace, and says what it did.

`python -m bench.writer CONNECT SECONDS`: sets, creates and deletes over Kafka-like znodes.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore
from typing import Any, NamedTuple

from kazoo.client import KazooClient

from bench.stage import connect
from bench.znodes import list_states, make_state
from zklake.errors import LabError

STATES = 2_000
# Enough to keep kazoo and ZooKeeper busy all the time; more only waits in queues.
_IN_FLIGHT = 500
OWNERS = "/consumers/billing/owners/orders"


class Written(NamedTuple):
    """What a writer did; `mark` is a znode that it created after everything else."""

    writes: int
    seconds: float
    mark: str

    @property
    def rate(self) -> float:
        """Writes per second."""
        return self.writes / self.seconds


@contextmanager
def running_writer(root: str, seconds: float) -> Iterator[Written]:
    """Write from a process of its own; enters when the last write is answered."""
    command = [sys.executable, "-m", "bench.writer", root, str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise LabError(f"the writer ended with code {process.wait()}")
        # Meanwhile it goes on to write the mark and to close its session.
        yield Written(**json.loads(line))


class Writer:
    """Asks for a bounded number of writes at a time, and counts the answers."""

    def __init__(self, client: KazooClient) -> None:
        self.writes = 0
        self._client = client
        self._room = Semaphore(_IN_FLIGHT)
        self._paths = list_states(STATES)
        self._random = random.Random(1)  # noqa: S311 - the same load every time

    def write(self, number: int) -> None:
        """Mostly sets; every tenth an owner comes or goes."""
        self._room.acquire()
        turn, is_delete = divmod(number, 20)
        if number % 10 == 0:
            path = f"{OWNERS}/{turn}"
            asked = self._client.delete_async(path) if is_delete else self._create(path)
        else:
            path = self._paths[self._random.randrange(STATES)]
            asked = self._client.set_async(path, make_state(number))
        asked.rawlink(self._count)

    def finish(self) -> None:
        """Wait for every answer."""
        for _ in range(_IN_FLIGHT):
            self._room.acquire()

    def _create(self, path: str) -> Any:
        return self._client.create_async(path, b"billing_host-0", ephemeral=True)

    def _count(self, answer: Any) -> None:
        if answer.exception is None:
            self.writes += 1
        self._room.release()


def write_for(root: str, seconds: float) -> None:
    """Write as fast as possible for so long, report it, and write the mark."""
    with connect(root) as client:
        client.ensure_path(OWNERS)
        writer, number = Writer(client), 0
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            writer.write(number)
            number += 1
        writer.finish()
        took = time.monotonic() - began
        written = Written(writer.writes, took, f"/mark-{uuid.uuid4().hex}")
        print(json.dumps(written._asdict()), flush=True)
        client.create(written.mark, b"")


if __name__ == "__main__":
    write_for(sys.argv[1], float(sys.argv[2]))
