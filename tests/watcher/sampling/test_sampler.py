"""The sampler where no broker answers: the reason is an event, and nothing else happens."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from tests.watcher.simulation import Simulation
from watcher.metrics import WatcherMetrics
from watcher.sampling import sampler as module
from watcher.sampling.brokers import BrokersAway
from watcher.sampling.ends import BrokerAnswer, Layout
from watcher.sampling.handover import Handover
from watcher.sampling.sampler import Plan, Sampler
from watcher.sampling.thinning import Taken
from watcher.zookeeper.inbox import Inbox
from zklake.events.envelope import decode
from zklake.events.samples import GroupReading, GroupState, LogEnd, LogEnds, Round
from zklake.name_patterns import Names


class Core:
    """The core's thread, played by the test."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.chronicle = Simulation(1).chronicle
        self.release = self.chronicle.release
        self.release.take()
        self.has_room = True
        self.metrics = WatcherMetrics()
        self.handover = Handover(self.inbox, lambda: self.release.meta.seq, lambda: self.has_room)

    def count(self, name: str) -> float:
        """A counter as it is scraped."""
        return self.metrics.registry.get_sample_value(f"zklake_watcher_{name}_total") or 0

    def make(self, find_bootstrap: Callable[[], str | None]) -> Sampler:
        plan = Plan(0.2, 60, None, {}, Names(), Names())
        return Sampler(plan, find_bootstrap, self.handover, self.metrics)

    def wait_for_round(self, seconds: float = 10) -> Round:
        """Work off the inbox until a round stands in the log."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for message in self.inbox.take(0.1):
                self.chronicle.handle(message, int(time.time() * 1000))
            batch = self.release.take()
            for record in batch.events if batch else ():
                found = decode(record).log_ends
                if found is not None and found.round is not None:
                    return found.round
        raise AssertionError("no round")


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    monkeypatch.setattr(module, "_REQUEST_S", 0.5)
    return Core()


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def find_closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_no_broker_is_known(core: Core) -> None:
    sampler = core.make(lambda: None)
    sampler.start()
    said = core.wait_for_round()
    sampler.close()
    assert "/brokers/ids" in (said.reason or "")
    assert (said.brokers_answered, said.brokers_failed, said.is_base) == ((), (), False)


@pytest.mark.parametrize("kind", ["closed", "mute"])
def test_no_broker_answers(core: Core, mute: str, kind: str) -> None:
    address = mute if kind == "mute" else find_closed_port()
    sampler = core.make(lambda: address)
    sampler.start()
    said = core.wait_for_round()
    again = core.wait_for_round()
    sampler.close()
    assert said.reason
    assert again.reason
    assert again.after_seq > said.after_seq
    assert core.count("sample_rounds") >= 1
    assert core.count("sample_failures") == 0


class Cluster:
    """Brokers that answer at one address; what the sampler was made of for it."""

    address = "old:9092"

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.closed: list[str] = []

    def make_brokers(self, bootstrap: str, *_: object) -> Any:
        return SimpleNamespace(
            bootstrap=bootstrap,
            read_layout=lambda _: self.read_layout(bootstrap),
            ask=lambda broker_id, *_: BrokerAnswer(broker_id, [LogEnd("t", 0, broker_id, 0, 5)]),
        )

    def read_layout(self, bootstrap: str) -> Layout:
        if self.address not in bootstrap:
            raise BrokersAway(f"{bootstrap} does not answer")
        return Layout({("t", 0): 1}, {0: 1})

    def make_groups(self, bootstrap: str, *_: object) -> Any:
        self.groups.append(bootstrap)
        taken = Taken([], []), GroupReading("offsets_topic")
        return SimpleNamespace(
            take=lambda *_: taken,
            close=lambda: self.closed.append(bootstrap),
            emit_all=lambda: None,
        )


def test_brokers_that_moved_are_asked_where_they_are_now(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, found = Cluster(), ["old:9092"]
    monkeypatch.setattr(module, "Brokers", cluster.make_brokers)
    monkeypatch.setattr(module, "Groups", cluster.make_groups)
    sampler = core.make(lambda: found[0])
    sampler.start()
    assert core.wait_for_round().reason is None
    # As long as one of them answers, clients find the others by themselves.
    found[0] = "new:9092,old:9092"
    assert [core.wait_for_round().reason for _ in range(2)] == [None, None]
    assert cluster.groups == ["old:9092"]
    cluster.address = "new:9092"
    deadline = time.monotonic() + 60
    while core.wait_for_round().reason is not None or len(cluster.groups) == 1:
        assert time.monotonic() < deadline
    sampler.close()
    assert cluster.groups == ["old:9092", "new:9092,old:9092"]
    assert cluster.closed[0] == "old:9092"


def test_client_options_that_librdkafka_refuses_are_a_reason_too(core: Core) -> None:
    plan = Plan(0.2, 60, None, {"no.such.option": "1"}, Names(), Names())
    sampler = Sampler(plan, lambda: "127.0.0.1:1", core.handover, core.metrics)
    sampler.start()
    said = core.wait_for_round()
    sampler.close()
    assert "no.such.option" in (said.reason or "")


def test_rounds_are_left_out_while_the_log_does_not_keep_up(core: Core) -> None:
    core.has_room = False
    sampler = core.make(lambda: None)
    sampler.start()
    deadline = time.monotonic() + 60
    while core.count("sample_rounds_skipped") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert core.inbox.is_empty
    core.has_room = True
    assert core.wait_for_round().reason
    sampler.close()


def test_one_parcel_at_a_time_and_none_after_the_end(core: Core) -> None:
    sampler = core.make(lambda: None)
    sampler.start()
    deadline = time.monotonic() + 60
    while core.inbox.is_empty:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)
    assert len(core.inbox.take(0)) == 1, "nobody took the first one, so no second one was made"
    sampler.close()
    assert not core.handover.post([LogEnds()])
    assert core.inbox.is_empty


def test_a_large_base_goes_in_parcels_and_only_while_there_is_room(core: Core) -> None:
    samples = [GroupState(f"g{n}" + "x" * 1000) for n in range(2000)]
    posted: list[bool] = []
    poster = Thread(target=lambda: posted.append(core.handover.post(samples)))
    poster.start()
    parcels = 0
    while poster.is_alive():
        for message in core.inbox.take(0.05):
            parcels += 1
            core.has_room = False
            core.chronicle.handle(message, 5000)
            time.sleep(0.15)
            assert core.inbox.is_empty
            core.has_room = True
    assert posted == [True]
    assert 4 <= parcels <= 8
    assert core.release.counts["group_state", "exact"] == 2000
