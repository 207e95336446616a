"""The real servers a bench plays on: one ZooKeeper and one broker, a chroot per bench.

Started when first asked for, ended with the run. Measures nothing.
"""

from __future__ import annotations

import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from kazoo.client import KazooClient

from bench.tail import Tail
from lab.cluster import Cluster
from lab.zookeeper import ZooKeeperServer
from zklake.errors import LabError
from zklake.supervision.child_process import ChildProcess

_MULTI = 200
# The lab's servers are made to start fast: their JVM compiles once and quickly. One that answers
# as fast as it can compiles what is hot again.
_FULL_SPEED = ("-XX:TieredStopAtLevel=4", "-Xmx512m")


class Stage:
    """`with Stage() as stage`: whatever was started ends with it."""

    def __init__(self) -> None:
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._ending.close()

    @cached_property
    def directory(self) -> Path:
        """Where logs of processes go."""
        return Path(self._ending.enter_context(tempfile.TemporaryDirectory(prefix="zklake-bench-")))

    @cached_property
    def cluster(self) -> Cluster:
        """One ZooKeeper server and one broker."""
        print("starting ZooKeeper and Kafka", file=sys.stderr)
        return self._ending.enter_context(Cluster())

    @cached_property
    def fast_zookeeper(self) -> ZooKeeperServer:
        """A ZooKeeper server of its own, for benches that would otherwise measure the server."""
        return self._ending.enter_context(ZooKeeperServer(jvm_options=_FULL_SPEED))

    @property
    def zookeeper_pid(self) -> int:
        """The process of the ZooKeeper server."""
        return self.cluster.zookeeper.servers[0].pid

    def make_root(
        self, znodes: Iterable[tuple[str, bytes]] = (), zookeeper: str | None = None
    ) -> str:
        """A connect string with a new chroot, which holds these znodes (parents first)."""
        zookeeper = zookeeper or self.cluster.zookeeper_connect
        chroot = f"/bench-{uuid.uuid4().hex[:8]}"
        with connect(zookeeper) as client:
            client.create(chroot)
        root = zookeeper + chroot
        with connect(root) as client:
            _fill(client, znodes)
        return root

    def watch(self, root: str, cluster: str, *options: str) -> ChildProcess:
        """Start `zklake watch` as a user would; of a tree whose brokers are not there."""
        command = ["env", "ZKLAKE_WATCHER__SAMPLING=false", sys.executable, "-m", "zklake", "watch"]
        command += ["--zookeeper", root]
        command += ["--log", self.cluster.bootstrap, "--cluster", cluster, "--take-over"]
        return ChildProcess([*command, *options], self.directory / f"{cluster}.log")

    @contextmanager
    def watching(self, root: str) -> Iterator[tuple[ChildProcess, Tail]]:
        """A watcher that is in sync, and the log it writes."""
        cluster = name_cluster()
        watcher = self.watch(root, cluster, "--http", "127.0.0.1:0")
        tail = Tail(self.cluster.bootstrap, cluster)
        try:
            if not tail.wait(lambda event: event.op == "in_sync", 120):
                raise LabError(f"the watcher did not come into sync:\n{watcher.tail()}")
            yield watcher, tail
        finally:
            tail.close()
            watcher.stop()


@contextmanager
def connect(hosts: str) -> Iterator[KazooClient]:
    """A plain kazoo client."""
    client = KazooClient(hosts)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def name_cluster() -> str:
    """A name that no other bench uses."""
    return f"bench-{uuid.uuid4().hex[:8]}"


def _fill(client: KazooClient, znodes: Iterable[tuple[str, bytes]]) -> None:
    """In transactions: several times as fast as one by one."""
    answers = []
    waiting = list(znodes)
    for first in range(0, len(waiting), _MULTI):
        transaction = client.transaction()
        for path, data in waiting[first : first + _MULTI]:
            transaction.create(path, data)
        answers.append(transaction.commit_async())
    for answer in answers:
        for result in answer.get():
            if isinstance(result, Exception):
                raise LabError(f"ZooKeeper refused a znode of the bench: {result!r}")
