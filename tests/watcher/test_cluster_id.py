"""The tree of another cluster, or of none, is not taken for the end of ours."""

from __future__ import annotations

import pytest

from tests.watcher.fake_zookeeper import FakeZooKeeper
from tests.watcher.simulation import Simulation
from tests.watcher.test_loop import BUFFER, SlowLog, plant, rigged
from watcher.cluster_id import CLUSTER_ID, read_cluster_id
from watcher.log.resume import LastEvent, compare
from watcher.loop import ROOT_MISSING, Limits
from zklake.errors import ZooKeeperError
from zklake.events.envelope import encode


def name(cluster_id: str) -> bytes:
    return b'{"version":"1","id":"%s"}' % cluster_id.encode()


def found(server: FakeZooKeeper, cluster_id: str | None) -> None:
    """A Kafka cluster comes to be."""
    if cluster_id is not None:
        server.create("/cluster", b"")
        server.create(CLUSTER_ID, name(cluster_id))
    for number in range(9):
        server.create(f"/of-{cluster_id}-{number}", b"")


def watch(recursive: bool) -> Simulation:
    """A log of the cluster `ours`, whose watcher has just ended."""
    simulation = Simulation(1, recursive=recursive, event_zxid=recursive)
    found(simulation.server, "ours")
    simulation.settle()
    assert simulation.log.meta is not None
    assert simulation.log.meta.cluster_id == "ours"
    return simulation


def start(simulation: Simulation) -> None:
    simulation.crash()
    assert simulation.log.meta is not None
    simulation.chronicle.expected_cluster = simulation.log.meta.cluster_id
    simulation.settle()


@pytest.mark.parametrize("recursive", [True, False], ids=["recursive", "one_shot"])
@pytest.mark.parametrize(("other", "says"), [("theirs", "cluster theirs"), (None, "no cluster")])
def test_another_cluster_is_refused_before_anything_is_told_of_it(
    recursive: bool, other: str | None, says: str
) -> None:
    simulation = watch(recursive)
    told = len(simulation.log.records)
    ours = simulation.server.nodes
    simulation.server.nodes = FakeZooKeeper().nodes
    found(simulation.server, other)
    with pytest.raises(ZooKeeperError, match=rf"{says}.*of the cluster ours.*--accept-cluster"):
        start(simulation)
    simulation.commit_all()
    assert [e.op for e in simulation.log.events()[told:]] == ["gap"]
    # The right one again: nothing was lost.
    simulation.server.nodes = ours
    start(simulation)
    assert all(e.origin is None for e in simulation.log.events()[told:])


def test_the_next_start_knows_a_cluster_that_was_accepted() -> None:
    simulation = watch(True)
    simulation.server.nodes = FakeZooKeeper().nodes
    found(simulation.server, "theirs")
    simulation.crash()
    simulation.settle()
    assert simulation.log.meta is not None
    assert simulation.log.meta.cluster_id == "theirs"
    start(simulation)


def test_a_cluster_made_anew_within_one_run_is_followed() -> None:
    simulation = watch(True)
    start(simulation)
    server = simulation.server
    server.delete(CLUSTER_ID)
    simulation.settle()
    assert simulation.log.meta is not None
    assert simulation.log.meta.cluster_id == ""
    server.create(CLUSTER_ID, name("theirs"))
    simulation.cut()
    simulation.settle()
    assert simulation.log.meta.cluster_id == "theirs"


def test_an_older_backup_of_the_same_cluster_is_taken() -> None:
    simulation = watch(True)
    snapshot = simulation.server.snapshot()
    simulation.server.create("/later", b"")
    simulation.settle()
    simulation.crash()
    simulation.chronicle.expected_cluster = "ours"
    simulation.restore(snapshot)
    simulation.settle()
    assert simulation.chronicle.in_sync
    assert simulation.chronicle.expected_cluster == ""


def test_a_lost_model_still_knows_its_cluster() -> None:
    simulation = watch(True)
    meta = simulation.log.meta
    assert meta is not None
    resume = compare({b"#meta": encode(meta)}, LastEvent(meta.log_id, meta.seq + 1, 1))
    assert resume.problem == "model_lost"
    assert resume.meta is not None
    assert resume.meta.cluster_id == "ours"


@pytest.mark.parametrize("data", [None, b"", b"\xff", b"{}", b'"x"', name("x" * 101)])
def test_what_names_no_cluster_is_no_name(data: bytes | None) -> None:
    assert read_cluster_id(data) is None


def test_a_missing_root_is_not_ready() -> None:
    server = plant(3, 1)
    server.nodes.clear()
    with rigged(server, SlowLog(0), Limits(buffer_bytes=BUFFER)) as rig:
        metrics = rig.loop._metrics
        rig.run(lambda: rig.loop.chronicle.in_sync and metrics.state != "starting")
        rig.run(lambda: metrics.state == ROOT_MISSING)
        assert metrics.state == ROOT_MISSING
        server.nodes = plant(3, 1).nodes
        rig.loop.chronicle.want_frame()
        rig.run(lambda: metrics.state == "in sync")
