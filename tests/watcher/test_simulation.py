"""Thousands of interleavings: what is published always adds up to what happened."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict

import pytest

from tests.reference import tree as reference
from tests.reference.accounting import account
from tests.watcher.fake_zookeeper import FakeZooKeeper, parent
from tests.watcher.simulation import Log, Simulation
from zklake.events.envelope import Event

SEEDS = 2700
STEPS = 160


class Ledger:
    """Adds the published events up, with nothing but their own words."""

    def __init__(self) -> None:
        self.version: dict[str, int | None] = {}
        self.czxid: dict[str, int | None] = {}
        self.cversion: dict[str, int] = defaultdict(int)
        self.data: dict[str, str | None] = {}

    def add(self, event: Event) -> None:
        path, stat = event.path, event.stat
        assert path is not None
        if event.op == "gap" and event.gap and event.gap.lives:
            self.cversion[path] += 2 * event.gap.lives
        if event.origin is None:
            return
        assert stat is not None
        if event.op == "delete":
            assert path in self.version, f"delete of an unknown znode: {event}"
            assert stat.czxid in (None, self.czxid[path]) or self.czxid[path] is None, event
            del self.version[path], self.czxid[path]
            self.cversion.pop(path, None)
            self.count(path)
            return
        if event.op == "create":
            assert path not in self.version, f"create of a known znode: {event}"
            self.count(path)
            expected: int | None = None if stat.version is None else event.missed or 0
        elif event.op == "set":
            assert path in self.version, f"set of an unknown znode: {event}"
            before = self.version[path]
            expected = None if before is None else before + 1 + (event.missed or 0)
        else:
            expected = self.version.get(path) if self.czxid.get(path) else None
            if event.origin == "scan" and path not in self.version:
                self.cversion[path] = stat.cversion or 0
                expected = None
        if None not in (expected, stat.version):
            assert stat.version == expected, f"versions do not add up to {expected}: {event}"
        if event.op == "set" and self.czxid[path] and stat.czxid:
            assert stat.czxid == self.czxid[path]
        self.version[path] = stat.version
        self.czxid[path] = stat.czxid if stat.czxid is not None else self.czxid.get(path)
        if event.fidelity == "exact":
            self.data[path] = event.data

    def count(self, path: str) -> None:
        if path != "/":
            self.cversion[parent(path)] += 1


def check_order(events: list[Event]) -> None:
    for before, after in itertools.pairwise(events):
        assert after.seq == before.seq + 1
        assert after.observed_at_ms >= before.observed_at_ms


def check_against(server: FakeZooKeeper, log: Log) -> None:
    events = log.events()
    check_order(events)
    ledger = Ledger()
    for event in events:
        ledger.add(event)
    real = {path: node.version for path, node in server.nodes.items()}
    assert ledger.version == real
    assert {path: ledger.czxid[path] for path in real if path != "/"} == {
        path: node.czxid for path, node in server.nodes.items() if path != "/"
    }
    assert {p: ledger.data[p] for p in real} == {
        p: node.data.decode() for p, node in server.nodes.items()
    }
    rows = {path: row for path, row in log.rows.items() if row is not None}
    assert {p: (r.version, r.cversion) for p, r in rows.items()} == {
        p: (n.version, n.cversion) for p, n in server.nodes.items()
    }
    if server.recursive:
        # No event tells of setACL; the last audit did.
        assert {p: r.aversion for p, r in rows.items()} == {
            p: n.aversion for p, n in server.nodes.items()
        }
    check_values(server, events)


def check_by_oracle(server: FakeZooKeeper, log: Log) -> None:
    """The accounting rule that real runs are held to."""
    numbers: dict[int, int] = defaultdict(int)
    changes = []
    for c in server.changes:
        numbers[c.zxid] += 1
        what = (c.op, c.path, c.data, c.version, c.czxid, c.owner)
        changes.append(reference.Change(c.zxid, numbers[c.zxid], *what, 0, c.session_close))
    records = [json.loads(record) for record in log.records]
    accounts = account(changes, records, server.sealed)
    assert accounts.is_clean, str(accounts)


def check_values(server: FakeZooKeeper, events: list[Event]) -> None:
    """Every exact value is that of its version; every watch event has its transaction."""
    truth = {(c.path, c.czxid, c.version): c for c in server.changes if c.op != "delete"}
    for event in events:
        if event.op in ("create", "set", "read") and event.fidelity == "exact":
            assert event.stat is not None
            key = (event.path or "", event.stat.czxid or 0, event.stat.version or 0)
            if event.path != "/":
                assert truth[key].data == (event.data or "").encode()


def check_watch_events(server: FakeZooKeeper, events: list[Event]) -> None:
    """With zxids: watch events are the log's own sequence, and outside gaps nothing is missing."""
    place: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for index, change in enumerate(server.changes):
        place[change.zxid, change.path, change.op].append(index)
    last = -1
    told: set[int] = set()
    blind = True
    for event in events:
        blind = (blind or event.op == "gap") and event.op != "in_sync"
        if event.origin != "watch":
            continue
        spots = [i for i in place[event.zxid or 0, event.path or "", event.op] if i > last]
        assert spots, f"out of order or never happened: {event}"
        if not blind:
            unseen = set(range(last + 1, spots[0])) - told
            assert last < 0 or not unseen or _gap_between(events, event), f"skipped before {event}"
        last = spots[0]
        told.add(last)


def _gap_between(events: list[Event], event: Event) -> bool:
    """Was a gap declared since the watch event before this one?"""
    index = event.seq - events[0].seq
    for earlier in reversed(events[:index]):
        if earlier.op == "gap" and earlier.path == "/":
            return True
        if earlier.origin == "watch":
            return False
    return True


@pytest.mark.parametrize("part", range(8))
def test_recursive_watch_adds_up_for_every_seed(part: int) -> None:
    for seed in range(part, SEEDS * 2 // 3, 8):
        simulation = Simulation(seed, event_zxid=seed % 2 == 0, limit=1 + seed % 5)
        simulation.run(STEPS)
        try:
            check_against(simulation.server, simulation.log)
            check_by_oracle(simulation.server, simulation.log)
            if simulation.server.event_zxid:
                check_watch_events(simulation.server, simulation.log.events())
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        assert simulation.chronicle.state.audit_differences == 0 or _acl_changed(simulation)


def _acl_changed(simulation: Simulation) -> bool:
    return any(node.aversion for node in simulation.server.nodes.values())


@pytest.mark.parametrize("part", range(4))
def test_one_shot_watches_add_up_for_every_seed(part: int) -> None:
    for seed in range(part, SEEDS // 3, 4):
        simulation = Simulation(seed, event_zxid=False, recursive=False, limit=1 + seed % 5)
        simulation.run(STEPS)
        try:
            check_against(simulation.server, simulation.log)
            check_by_oracle(simulation.server, simulation.log)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


class RollingUpgrade(Simulation):
    """Servers before and after 3.6 in one ensemble: each connection meets one or the other."""

    def connect(self) -> None:
        if not self.up:
            self.server.recursive = self.random.random() < 0.5
            self.chronicle.watch_by(recursive=self.server.recursive)
        super().connect()


def test_servers_of_both_kinds_add_up_for_every_seed() -> None:
    kinds = set()
    for seed in range(SEEDS // 6):
        simulation = RollingUpgrade(seed, event_zxid=False, limit=1 + seed % 5)
        simulation.run(STEPS)
        try:
            # Not by the oracle: it judges a whole log by one kind of server.
            check_against(simulation.server, simulation.log)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        kinds |= {event.gap.coalescing for event in simulation.log.events() if event.gap}
    assert len(kinds) > 1


def test_a_seed_replays_identically() -> None:
    runs = []
    for _ in range(2):
        simulation = Simulation(7)
        simulation.run(STEPS)
        runs.append((simulation.log.records, simulation.log.rows))
    assert runs[0] == runs[1]
