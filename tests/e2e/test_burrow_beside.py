"""The real Burrow beside us, on the same ZooKeeper group: both answers, and who is right."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest

from lab.zookeeper_consumer.process import ConsumerProcess
from tests.e2e.burrow_process import PROGRAM
from tests.e2e.burrow_scene import (
    GROUP,
    PARTITIONS,
    PATIENCE_S,
    RATE,
    REFRESH_S,
    TOPIC,
    Moment,
    Scene,
    open_scene,
)
from tests.e2e.burrow_table import write_table
from tests.e2e.burrow_truth import find_standing
from tests.reference.tree import Change, fold
from tests.reference.txnlog import read_dir
from tests.watcher.watching import wait_for

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        PROGRAM is None, reason="Burrow is not installed: apt-get install burrow (Debian, Ubuntu)"
    ),
]
# Beside the last commit and the last sample: how much two looks at one moment may differ.
SLACK = RATE * 4 * REFRESH_S


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with open_scene(tmp_path_factory.mktemp("burrow")) as scene:
        yield scene
        print(f"\n{write_table(scene.moments)}")


def test_both_beside_each_other(scene: Scene) -> None:
    play_steady(scene)
    play_stall(scene)
    play_deaths(scene)
    play_reconnect(scene)
    changes, _ = fold(read_dir(scene.cluster.zookeeper.servers[0].data_dir))
    for moment in scene.moments:
        check_truth(changes, moment)
        check_ours(moment)


def play_steady(scene: Scene) -> None:
    members = [scene.join(name) for name in ("a", "b")]
    wait_for("full windows", lambda: has_full_windows(scene), 120)
    scene.look("two members, steady")
    for member in members:
        member.stop()


def play_stall(scene: Scene) -> None:
    """It owns everything and keeps its session, and reads nothing."""
    member, since = scene.join("hung", rate=0.001), time.monotonic()
    for seconds in (PATIENCE_S / 2, PATIENCE_S):
        wait(seconds)
        scene.look("the only member hangs", since)
    member.stop()


def play_deaths(scene: Scene) -> None:
    first, second = join_two(scene)
    second.kill()
    since = time.monotonic()
    wait(3)
    scene.look("one of two killed, its session not expired yet", since)
    wait(12)
    scene.look("one of two killed, the other took over", since)
    wait(PATIENCE_S)
    first.kill()
    since = time.monotonic()
    for seconds in (12, PATIENCE_S + 10):
        wait(seconds)
        scene.look("the last one killed", since)


def play_reconnect(scene: Scene) -> None:
    members = join_two(scene)
    server = scene.cluster.zookeeper.servers[0]
    for turn in ("once", "again"):
        server.kill()
        server.start()
        settle(scene)
        scene.look(f"ZooKeeper restarted {turn}")
    freeze(scene)
    scene.look("both watchers' sessions expired")
    for _ in range(5):
        hiccup(scene)
    settle(scene)
    scene.look("both watchers' connections hung and broke, five times")
    for member in members:
        member.stop()


def join_two(scene: Scene) -> tuple[ConsumerProcess, ConsumerProcess]:
    """At work for long enough to have full windows."""
    members = scene.join("a"), scene.join("b")
    settle(scene)
    return members


def settle(scene: Scene) -> None:
    wait_for("commits", lambda: scene.read_truth().lag < SLACK, 60)
    wait(1.5 * PATIENCE_S)


def hiccup(scene: Scene) -> None:
    """News piles up; it arrives, and the connection breaks before anybody is answered."""
    for proxy in scene.proxies:
        proxy.pause()
    wait(3)
    for proxy in scene.proxies:
        proxy.resume()
        wait(0.002)
        proxy.cut()
    wait(4)


def freeze(scene: Scene) -> None:
    """SIGSTOP of both watchers, for longer than their sessions."""
    watchers = (scene.burrow.process, scene.watcher.process)
    for watcher in watchers:
        watcher.pause()
    wait(PATIENCE_S)
    for watcher in watchers:
        watcher.resume()
    settle(scene)


def check_truth(changes: Sequence[Change], moment: Moment) -> None:
    """What ZooKeeper said then is what its transaction log says."""
    for partition, offset in moment.truth.offsets.items():
        path = f"/consumers/{GROUP}/offsets/{TOPIC}/{partition}"
        assert str(offset).encode() in find_standing(changes, path, moment.truth), moment.title
    for partition in range(PARTITIONS):
        owner = moment.truth.owners.get(partition)
        path = f"/consumers/{GROUP}/owners/{TOPIC}/{partition}"
        held = None if owner is None else owner.encode()
        assert held in find_standing(changes, path, moment.truth), moment.title


def check_ours(moment: Moment) -> None:
    """Ours is right about lag and owners, whatever happened; Burrow is only told of."""
    truth, ours = moment.truth, moment.ours
    assert ours["partition_count"] == PARTITIONS, moment.title
    assert abs(ours["totallag"] - truth.lag) <= SLACK, moment.title
    owners = {one["partition"]: one["owner"] for one in ours["partitions"] if one["owner"]}
    assert owners == truth.owners, moment.title


def has_full_windows(scene: Scene) -> bool:
    status = scene.burrow.ask("/consumer/readers/lag")["status"]
    return bool(status["partition_count"] == PARTITIONS and status["complete"] == 1)


def wait(seconds: float) -> None:
    """The acts of this play are times: a stall is nothing but time."""
    time.sleep(seconds)
