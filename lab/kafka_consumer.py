"""A member of a Kafka-stored group as a process of its own: confluent-kafka, as anybody uses it.

Run as a program it reads, commits and says nothing; SIGUSR1 makes it stall: it stays a member, and
reads no more. Who is a member and what is committed, only the brokers are asked.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from threading import Event

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from lab.server import WorkDirectory
from zklake.supervision.restartable import RestartableProcess
from zklake.supervision.startable import Startable

# The least that brokers allow; a crash is noticed after it.
_SESSION_MS = 6_000
# By a heartbeat a member learns that others came or left.
_HEARTBEAT_MS = 200
_POLL_S = 0.1


class KafkaMember(RestartableProcess, Startable):
    """One member; the broker gives it an id that begins with `client_id`."""

    def __init__(
        self,
        bootstrap: str,
        group: str,
        client_id: str,
        topic: str,
        *,
        commit_ms: int = 1_000,
        log_file: Path | None = None,
    ) -> None:
        """Nothing starts yet."""
        self.client_id = client_id
        self._place = WorkDirectory(log_file.parent if log_file else None)
        super().__init__(client_id, log_file or self._place.path / f"{client_id}.log")
        self._arguments = [
            f"--bootstrap={bootstrap}",
            f"--group={group}",
            f"--client-id={client_id}",
            f"--topic={topic}",
            f"--commit-ms={commit_ms}",
        ]

    def start(self, timeout_s: float = 30.0) -> None:
        """Start the process; when it is a member, the brokers know."""
        self._run([sys.executable, "-m", __name__, *self._arguments])

    def stall(self) -> None:
        """It reads and commits no more, and stays what it is."""
        os.kill(self.pid, signal.SIGUSR1)

    def close(self) -> None:
        """End it for good, at once."""
        if self.is_alive():
            self.kill()
        self._place.clear()


def consume(options: argparse.Namespace, stopping: Event, stalling: Event) -> None:
    """Read and commit until `stopping`; from `stalling` on, only stay a member."""
    consumer = Consumer(
        {
            "bootstrap.servers": options.bootstrap,
            "group.id": options.group,
            "client.id": options.client_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "partition.assignment.strategy": "range",
            "session.timeout.ms": _SESSION_MS,
            "heartbeat.interval.ms": _HEARTBEAT_MS,
            "fetch.wait.max.ms": 100,
            "log_level": 2,
        }
    )

    def pause(one: Consumer, assigned: list[TopicPartition]) -> None:
        if stalling.is_set():
            one.assign(assigned)
            one.pause(assigned)

    consumer.subscribe([options.topic], on_assign=pause)
    committed_at = time.monotonic()
    while not stopping.is_set():
        if stalling.is_set():
            consumer.pause(consumer.assignment())
        consumer.poll(_POLL_S)
        is_due = time.monotonic() - committed_at >= options.commit_ms / 1000
        if is_due and not stalling.is_set():
            committed_at = time.monotonic()
            commit(consumer)
    if not stalling.is_set():
        commit(consumer)
    consumer.close()


def commit(consumer: Consumer) -> None:
    """Commit what was read; a rebalance may be in the way, and then the next time will do."""
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as error:
        if error.args[0].code() != KafkaError._NO_OFFSET:
            sys.stderr.write(f"{error}\n")


def main() -> None:
    """`python -m lab.kafka_consumer …`"""
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "group", "client-id", "topic"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--commit-ms", type=int, default=1_000)
    options = parser.parse_args()
    stopping, stalling = Event(), Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGUSR1, lambda *_: stalling.set())
    consume(options, stopping, stalling)


if __name__ == "__main__":
    main()
