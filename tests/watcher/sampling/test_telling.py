"""Samples in the log: in one order with znode events, and without any effect on them."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tests.watcher.simulation import Simulation
from watcher.chronicle import Chronicle
from watcher.messages import DELETED, Connected, Disconnected, Sampled, Tick, WatchEvent
from watcher.release import Release
from watcher.sample_queue import LONGEST_RUN_MS
from zklake.events.envelope import SESSION_RUN_MS, decode
from zklake.events.samples import Commit, GroupCommits, GroupState, LogEnd, LogEnds, Round

SAMPLES = (
    GroupState("g", state="Stable", generation=3, members=(), member_count=0),
    GroupCommits((Commit("g", "orders", 0, 7),)),
    LogEnds((LogEnd("orders", 0, 1, 0, 9),), Round(1000, 5, (1,))),
)
OPS = ("group_state", "group_commit", "log_ends")


class PlainSimulation(Simulation):
    """No crash: where batches are cut, and so what a crash loses, does differ with samples."""

    def crash(self) -> None:
        self.tick()


class SampledSimulation(PlainSimulation):
    """The same schedule, with samples thrown in by a die of their own."""

    def __init__(self, seed: int, **options: Any) -> None:
        self.die = random.Random(-seed)
        self.posted = self.told = 0
        super().__init__(seed, **options)

    def deliver(self) -> None:
        if self.die.random() < 0.2:
            self.posted += 1
            message = Sampled(SAMPLES, self.hear)
            self.chronicle.handle(message, self.at_ms)
            self.server.asked.extend(self.chronicle.take_requests())
        super().deliver()

    def hear(self) -> None:
        self.told += 1


def strip(record: bytes) -> dict[str, Any]:
    """What is left of an event when its place among samples is taken away."""
    event: dict[str, Any] = msgspec.json.decode(record)
    for name in ("gap", "frame"):
        # Ids are made of seqs; from_… is how far the log had come, and a sample moves it on too.
        for part in ("id", "from_ms", "from_zxid"):
            event.get(name, {}).pop(part, None)
    return {name: value for name, value in event.items() if name != "seq"}


@pytest.mark.parametrize("recursive", [True, False])
def test_znode_events_and_the_model_are_the_same_with_samples_and_without(recursive: bool) -> None:
    told = 0
    for seed in range(100):
        plain = PlainSimulation(seed, recursive=recursive)
        plain.run(300)
        mixed = SampledSimulation(seed, recursive=recursive)
        mixed.run(300)
        seqs = [decode(record).seq for record in mixed.log.records]
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
        znodes = [strip(r) for r in mixed.log.records if decode(r).op not in OPS]
        assert znodes == [strip(r) for r in plain.log.records], f"seed {seed}"
        assert mixed.log.rows == plain.log.rows
        told += mixed.told
    assert told > 500


def make_chronicle() -> Chronicle:
    chronicle = Simulation(1).chronicle
    chronicle.handle(Connected(1, 1, "fake", True), 1000)
    return chronicle


def list_ops(release: Release) -> list[str]:
    batch = release.take()
    return [] if batch is None else [decode(event).op for event in batch.events]


def test_a_sample_waits_for_the_end_of_a_run_of_deletes() -> None:
    chronicle, told = make_chronicle(), []
    chronicle.handle(WatchEvent(5, DELETED, "/consumers/g/owners/t/0"), 2000)
    chronicle.handle(Sampled(SAMPLES[:1], lambda: told.append(1)), 2100)
    chronicle.handle(WatchEvent(5, DELETED, "/consumers/g/ids/m"), 2200)
    chronicle.handle(Tick(), 2200 + SESSION_RUN_MS - 1)
    assert not told
    chronicle.handle(Tick(), 2200 + SESSION_RUN_MS)
    assert told
    ops = list_ops(chronicle.release)
    assert ops[-1] == "heartbeat" or ops[-1] == "group_state"


def test_a_storm_of_deletes_does_not_keep_samples_back_for_ever() -> None:
    chronicle, told = make_chronicle(), []
    chronicle.handle(Sampled(SAMPLES[:1], lambda: told.append(0)), 2000)
    assert told == [0]
    chronicle.handle(WatchEvent(5, DELETED, "/x"), 3000)
    chronicle.handle(Sampled(SAMPLES[:1], lambda: told.append(1)), 3000)
    for at_ms in range(3100, 3000 + LONGEST_RUN_MS, 100):
        chronicle.handle(WatchEvent(5, DELETED, "/x"), at_ms)
        assert told == [0]
    chronicle.handle(WatchEvent(5, DELETED, "/x"), 3000 + LONGEST_RUN_MS)
    assert told == [0, 1]


def test_a_clock_that_steps_back_keeps_nothing_back() -> None:
    chronicle, told = make_chronicle(), []
    chronicle.handle(WatchEvent(5, DELETED, "/x"), 9_000_000)
    chronicle.handle(Sampled(SAMPLES[:1], lambda: told.append(1)), 2000)
    assert told


def test_the_last_word_of_a_watcher_is_its_gap() -> None:
    chronicle = make_chronicle()
    chronicle.handle(WatchEvent(5, DELETED, "/x"), 2000)
    chronicle.handle(Sampled(SAMPLES, lambda: None), 2001)
    chronicle.handle(Disconnected("restart"), 2002)
    assert list_ops(chronicle.release)[-1] == "gap"


def test_samples_on_the_wire() -> None:
    chronicle = make_chronicle()
    list_ops(chronicle.release)
    chronicle.handle(Sampled(SAMPLES, lambda: None), 2000)
    batch = chronicle.release.take()
    assert batch is not None
    assert batch.rows == {}
    events = [msgspec.json.decode(event) for event in batch.events]
    assert [event["op"] for event in events] == list(OPS)
    assert all("path" not in event and "kind" not in event for event in events)
    assert events[1]["group_commit"] == {
        "commits": [{"group_id": "g", "topic": "orders", "partition": 0, "committed_offset": 7}]
    }
    assert events[2]["log_ends"] == {
        "partitions": [
            {
                "topic": "orders",
                "partition": 0,
                "broker_id": 1,
                "log_start_offset": 0,
                "log_end_offset": 9,
            }
        ],
        "round": {"after_seq": 1000, "took_ms": 5, "brokers_answered": [1]},
    }


def test_a_group_without_its_members_says_so() -> None:
    chronicle = make_chronicle()
    list_ops(chronicle.release)
    chronicle.handle(Sampled((GroupState("g", member_count=9000),), lambda: None), 2000)
    batch = chronicle.release.take()
    assert batch is not None
    assert decode(batch.events[0]).fidelity == "oversize"
