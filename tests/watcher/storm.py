"""A writer that goes on through any fault: what it did is told by ZooKeeper's log alone."""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry


class Storm:
    """Creates, sets and deletes Kafka-like znodes until left."""

    def __init__(self, hosts: str, *, seed: int = 1, rate: float = 200.0) -> None:
        servers, _, chroot = hosts.partition("/")
        retry = KazooRetry(max_tries=-1, delay=0.1, max_delay=1)
        admin = KazooClient(servers, connection_retry=retry)
        admin.start(timeout=30)
        admin.ensure_path("/" + chroot)
        admin.stop()
        admin.close()
        self._client = KazooClient(hosts, timeout=4, connection_retry=retry)
        self._client.start(timeout=30)
        self._random = random.Random(seed)
        self._pause_s = 1 / rate
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._blow, daemon=True)
        self.done = 0

    def __enter__(self) -> Storm:
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the storm and its session: its ephemerals are the last to go."""
        self._over.set()
        self._thread.join(30)
        with suppress(Exception):
            self._client.stop()
            self._client.close()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def _blow(self) -> None:
        while not self._over.is_set():
            try:
                self._write()
                self.done += 1
            except (KazooException, KazooTimeoutError):
                # Maybe written, maybe not: the transaction log knows.
                time.sleep(0.05)
            time.sleep(self._pause_s)

    def _write(self) -> None:
        number = self._random.randrange(12)
        path = f"/brokers/topics/t{number}"
        value = f'{{"version":1,"partitions":{{"0":[{self._random.randrange(3)}]}}}}'.encode()
        act = self._random.random()
        if not self._client.exists(path):
            self._client.create(path, value, makepath=True, ephemeral=act < 0.2)
        elif act < 0.3:
            self._client.delete(path)
        else:
            self._client.set(path, value)
