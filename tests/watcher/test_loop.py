"""The loop between a fake ZooKeeper and a log that is slow or away: memory stays bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.watcher.fake_zookeeper import FakeZooKeeper
from tests.watcher.simulation import PlainSealer
from watcher.chronicle import Chronicle
from watcher.log.batch import Batch
from watcher.log.resume import Resume
from watcher.loop import Edges, Limits, Loop
from watcher.messages import CHANGED, Connected, Disconnected, Request, WatchEvent, ZnodeStat
from watcher.metrics import WatcherMetrics
from watcher.outlet import Outlet
from watcher.read_timer import ReadTimer
from watcher.release import Release
from watcher.tree import Tree, ZnodeRow
from watcher.zookeeper.inbox import Inbox
from zklake.events.envelope import Event, GapReason, Meta, decode

BUFFER = 1 << 20


class SlowLog:
    """Takes its time for every batch."""

    def __init__(self, pause_s: float) -> None:
        self.pause_s = pause_s
        self.events: list[Event] = []
        self.largest_wait = 0
        self.waiting: Callable[[], int] = lambda: 0

    def open(self) -> Resume:
        return Resume(None, None, "first_start")

    def publish(self, batch: Batch) -> None:
        time.sleep(self.pause_s)
        self.largest_wait = max(self.largest_wait, self.waiting())
        self.events += map(decode, batch.events)

    def close(self) -> None:
        pass


class FakeSession:
    """Answers at once, from memory; or never."""

    connected = True
    last_zxid_seen = 0

    def __init__(self, server: FakeZooKeeper, inbox: Inbox, *, answers: bool = True) -> None:
        self.server, self.inbox, self.answers = server, inbox, answers
        self.parted: list[GapReason] = []

    def send(self, requests: Sequence[Request]) -> None:
        self.server.asked.extend(requests)
        while self.answers and self.server.asked:
            self.server.answer()
        messages = list(self.server.stream)
        self.server.stream.clear()
        self.inbox.put(messages, 100 * len(messages))

    def let_go(self, reason: GapReason) -> None:
        self.parted.append(reason)
        self.inbox.put_change(Disconnected(reason), 0)

    def resume(self) -> None:
        self.parted.append("disconnected")


class Rig:
    def __init__(self, server: FakeZooKeeper, log: SlowLog, limits: Limits, **how: Any) -> None:
        self.inbox = Inbox(1 << 30)
        release = Release("c", Meta("log", 1000, 0, 0), Tree(), PlainSealer(), limits.batch_events)
        self.log = log
        log.waiting = lambda: release.bytes_waiting
        self.session = FakeSession(server, self.inbox, **how)
        self.outlet = Outlet(log, on_done=lambda: self.inbox.put(()))
        chronicle = Chronicle(
            release, reads_in_flight=limits.reads_in_flight, buffer_bytes=limits.buffer_bytes
        )
        edges = Edges(self.inbox, self.session, self.outlet)  # type: ignore[arg-type]
        self.loop = Loop(WatcherMetrics(), chronicle, edges, limits)
        chronicle.begin("first_start", 1)

    def run(self, is_over: Callable[[], bool], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        self.loop.run(lambda published: is_over() or time.monotonic() > deadline, lambda: False)
        assert is_over(), "not within the time"


@contextmanager
def rigged(server: FakeZooKeeper, log: SlowLog, limits: Limits, **how: Any) -> Iterator[Rig]:
    rig = Rig(server, log, limits, **how)
    rig.inbox.put_change(Connected(1, 1, "fake", True), 1)
    yield rig
    rig.outlet.close(5)


def plant(znodes: int, size: int) -> FakeZooKeeper:
    server = FakeZooKeeper()
    for number in range(znodes):
        server.create(f"/n{number:05}", b"x" * size)
    return server


@pytest.mark.parametrize(("znodes", "size"), [(5000, 1000), (40, 200_000)], ids=["many", "large"])
def test_a_first_scan_ends_though_kafka_is_slower_than_zookeeper(znodes: int, size: int) -> None:
    limits = Limits(buffer_bytes=BUFFER, batch_events=100)
    with rigged(plant(znodes, size), SlowLog(0.01), limits) as rig:
        rig.run(lambda: rig.loop.chronicle.in_sync)
        assert rig.session.parted == []
        assert rig.log.largest_wait <= BUFFER
        # A frame of the same tree is as large.
        rig.loop.chronicle.want_frame()
        rig.run(lambda: sum(e.op == "in_sync" for e in rig.log.events) == 2)
        assert rig.session.parted == []
        assert rig.log.largest_wait <= BUFFER


def test_the_numbers_say_how_long_and_how_much() -> None:
    with rigged(plant(20, 10), SlowLog(0), Limits(buffer_bytes=BUFFER)) as rig:
        rig.run(lambda: rig.loop.chronicle.in_sync)
        registry, release = rig.loop._metrics.registry, rig.loop.chronicle.release

        def read(name: str, **labels: str) -> float:
            return registry.get_sample_value(f"zklake_watcher_{name}", labels) or 0

        rig.session.last_zxid_seen = 77
        rig.inbox.put_change(Disconnected("session_expired"), 0)
        rig.run(lambda: read("gap_seconds_total", reason="session_expired") > 0.5)
        assert read("gap_seconds_total", reason="first_start") < 1
        assert read("read_seconds_count") > 0
        assert (read("server_zxid"), read("published_zxid")) == (77, 20)
        assert read("model_bytes") == release.tree.size > 20 * 80
        counted = {
            (sample.labels["op"], sample.labels["fidelity"]): sample.value
            for family in registry.collect()
            for sample in family.samples
            if sample.name == "zklake_watcher_events_total"
        }
        # However often it was looked at, each event counts once.
        assert counted == release.counts
        assert read("gaps_total", reason="session_expired") == 1


def test_one_read_at_a_time_is_timed() -> None:
    clock = iter([10.0, 13.0, 20.0, 21.0])
    metrics = WatcherMetrics()

    def read_sum() -> float | None:
        return metrics.registry.get_sample_value("zklake_watcher_read_seconds_sum")

    timer = ReadTimer(metrics.read_seconds, lambda: next(clock))
    timer.ask(2)
    timer.ask(5)  # not timed: one is under way
    timer.answer(1)
    assert read_sum() == 0
    timer.answer(1)
    assert read_sum() == 3
    timer.answer(1)
    timer.forget()
    timer.ask(1)
    timer.answer(1)
    assert read_sum() == 4


def test_the_model_counts_its_paths_once() -> None:
    tree, row = Tree(), ZnodeRow(1, 1, 0, 0, 0)
    empty = tree.size
    tree.put("/abcdefghij", row, 0, 0)
    one = tree.size
    tree.put("/abcdefghij", row, 0, 0)
    assert tree.size == one > empty
    tree.drop("/abcdefghij")
    tree.drop("/abcdefghij")
    tree.put_seen("/abcdefghij", ZnodeStat(*range(11)), b"")
    assert tree.size == one
    tree.drop("/abcdefghij")
    tree.put("/a", row, 0, 0)
    assert tree.size == one - 9


def test_a_scan_that_filled_the_buffer_is_careful_the_next_time() -> None:
    """Small values, and then all at once large ones: nobody could have known."""
    server = plant(2000, 10)
    for number in range(100):
        server.create(f"/z{number}", b"x" * 100_000)
    with rigged(server, SlowLog(0.01), Limits(buffer_bytes=BUFFER, batch_events=100)) as rig:
        rig.run(lambda: rig.session.parted == ["backpressure", "disconnected"])
        rig.inbox.put_change(Connected(1, 1, "fake", True), 2)
        rig.run(lambda: rig.loop.chronicle.in_sync)
        assert rig.session.parted == ["backpressure", "disconnected"]


def test_events_that_wait_for_their_values_count_in_the_buffer() -> None:
    """A server that sends events and answers no read would fill the memory."""
    server = plant(1, 10)
    limits = Limits(buffer_bytes=BUFFER)
    with rigged(server, SlowLog(0), limits) as rig:
        rig.run(lambda: rig.loop.chronicle.in_sync)
        rig.session.answers = False
        for number in range(100):
            events = [WatchEvent(-1, CHANGED, f"/n{number}-{n}") for n in range(100)]
            rig.inbox.put(events)
        rig.run(lambda: rig.session.parted == ["backpressure", "disconnected"])
        rig.run(lambda: [e.gap.reason for e in rig.log.events if e.gap][1:] == ["backpressure"])
        assert rig.loop.chronicle.release.held_bytes == 0
