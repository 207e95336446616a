"""A real `zklake watch` process under test, and the log it writes, read by a plain consumer."""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from kazoo.client import KazooClient

from zklake.supervision.child_process import ChildProcess

PATIENCE_S = 60.0


def wait_for(what: str, is_true: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    """Poll until it is true, and return it; fail with words otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := is_true():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s")


class LogTail:
    """Everything committed in a cluster's event topic, as dictionaries."""

    def __init__(self, bootstrap: str, cluster: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.raw = bytearray()
        self._at_end = False
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "tests",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,
                "log_level": 0,  # it says once per attempt that a broker we killed is gone
            }
        )
        self._consumer.assign([TopicPartition(f"zklake.{cluster}", 0, OFFSET_BEGINNING)])

    def poll(self) -> list[dict[str, Any]]:
        """Read on, as far as there is anything."""
        messages = self._consumer.consume(5000, 0.3)
        for message in messages:
            value, error = message.value(), message.error()
            self._at_end = error is not None and error.code() == KafkaError._PARTITION_EOF
            if error is None and value is not None:
                self.events.append(json.loads(value))
                self.raw += value
        return self.events if len(messages) < 5000 else self.poll()

    def read_all(self) -> list[dict[str, Any]]:
        """Everything there is: nobody writes any more."""
        self.poll()
        wait_for("the end of the log", lambda: self.poll() is not None and self._at_end)
        return self.events

    def find(self, **wanted: Any) -> dict[str, Any] | None:
        """The first event with these fields."""
        for event in self.poll():
            if all(event.get(name) == value for name, value in wanted.items()):
                return event
        return None

    def close(self) -> None:
        self._consumer.close()


class WatcherProcess:
    """One watcher of one ZooKeeper, publishing to one Kafka; survives kill -9 by `start`."""

    def __init__(
        self,
        zookeeper: str,
        bootstrap: str,
        directory: Path,
        *,
        cluster: str | None = None,
        crash: tuple[str, int] | None = None,
        environ: dict[str, str] | None = None,
        options: tuple[str, ...] = ("--take-over",),
        program: tuple[str, ...] = ("-m", "zklake"),
    ) -> None:
        self.cluster = cluster or f"w{uuid.uuid4().hex[:10]}"
        self.zookeeper, self.bootstrap = zookeeper, bootstrap
        self.log_file = directory / f"watcher-{uuid.uuid4().hex[:6]}.log"
        # Samples come when they come: only who asks for them gets them.
        self._environ = {"ZKLAKE_WATCHER__SAMPLING": "false", **(environ or {})}
        self._options, self._program = options, program
        self._process: ChildProcess | None = None
        self.start(crash)

    def start(self, crash: tuple[str, int] | None = None) -> None:
        """Start the command a user would; or the same, dying at the n-th pass of a step."""
        crashing = ("-m", "tests.watcher.crashing", *map(str, crash)) if crash else None
        variables = [f"{name}={value}" for name, value in self._environ.items()]
        command = ["env", *variables, sys.executable, *(crashing or self._program)]
        command += ["watch", "--zookeeper", self.zookeeper, "--log", self.bootstrap]
        command += ["--cluster", self.cluster, "--http", "127.0.0.1:0", *self._options]
        self._process = ChildProcess(command, self.log_file)

    @property
    def process(self) -> ChildProcess:
        assert self._process is not None
        return self._process

    def wait_for_crash(self) -> None:
        wait_for("the planted crash", lambda: self.process.exit_code is not None)
        assert self.process.exit_code == -9, self.process.tail()

    def __enter__(self) -> WatcherProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.process.is_alive():
            self.process.kill()


def write_mark(zookeeper: str, name: str = "mark") -> str:
    """A znode that nobody else writes, created last: once it is in the log, all before it is."""
    path = f"/{name}-{uuid.uuid4().hex[:8]}"
    client = KazooClient(zookeeper)
    client.start()
    try:
        client.create(path, b"")
    finally:
        client.stop()
        client.close()
    return path


def catch_up(watcher: WatcherProcess, tail: LogTail, seconds: float = PATIENCE_S) -> None:
    """Wait until the watcher has published everything written so far."""
    path = write_mark(watcher.zookeeper)
    try:
        wait_for(f"{path} in the log", lambda: tail.find(path=path), seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{watcher.process.tail()}") from error
    wait_for("in sync", lambda: is_in_sync(tail.poll()), seconds)


def is_in_sync(events: list[dict[str, Any]]) -> bool:
    """The last statement about the whole tree is `in_sync`; lives are about one parent."""
    said = [e["op"] for e in events if "lives" not in e.get("gap", {})]
    said = [op for op in said if op in ("gap", "in_sync")]
    return bool(said) and said[-1] == "in_sync"
