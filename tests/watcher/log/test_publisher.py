from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.watcher.log.writing import (
    delete_topic,
    make_batch,
    name_cluster,
    read_seqs,
    read_topic,
)
from watcher.log.batch import MAX_RECORD_BYTES, Batch
from watcher.log.publisher import GaveUp, Publisher
from watcher.log.resume import read_tree
from watcher.log.topics import ensure_topics
from zklake.errors import Fenced, LogError

if TYPE_CHECKING:
    from lab.cluster import Cluster

pytestmark = pytest.mark.integration


@pytest.fixture
def name(cluster: Cluster) -> str:
    name = name_cluster()
    ensure_topics(cluster.bootstrap, {}, name)
    return name


@pytest.fixture
def publisher(cluster: Cluster, name: str) -> Iterator[Publisher]:
    publisher = Publisher(cluster.bootstrap, {}, name)
    publisher.fence()
    yield publisher
    publisher.close()


def test_batches_are_seen_whole_and_in_order(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    for first in range(1, 301, 100):
        publisher.publish(make_batch(first, 100))
    assert read_seqs(cluster.bootstrap, name) == list(range(1, 301))
    tree = read_topic(cluster.bootstrap, f"zklake.{name}.tree")
    assert [key for key, _ in tree].count(b"#meta") == 3
    assert tree[-1] == (b"#meta", {**tree[-1][1], "seq": 300, "log_id": "log-1"})


def test_the_largest_event_fits_and_a_larger_one_is_refused_before_it_blocks(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    largest = b'{"seq":1,"data":"' + b"x" * (MAX_RECORD_BYTES - 19) + b'"}'
    assert len(largest) == MAX_RECORD_BYTES
    publisher.publish(Batch([largest], {}, None))
    assert read_seqs(cluster.bootstrap, name) == [1]
    with pytest.raises(LogError, match="oversize"):
        publisher.publish(Batch([largest + b" "], {}, None))


def test_a_second_publisher_fences_the_first(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    publisher.publish(make_batch(1, 5))
    second = Publisher(cluster.bootstrap, {}, name)
    second.fence()
    with pytest.raises(Fenced, match="another watcher took over"):
        publisher.publish(make_batch(6, 5))
    with pytest.raises(Fenced):
        publisher.publish(make_batch(6, 5))
    second.publish(make_batch(6, 5))
    second.close()
    assert read_seqs(cluster.bootstrap, name) == list(range(1, 11))


def test_a_topic_that_stays_away_ends_the_wait(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("watcher.log.contact.GONE_AFTER_S", 3.0)
    # A new client gives a topic it does not find this long to appear.
    publisher = Publisher(cluster.bootstrap, {"topic.metadata.propagation.max.ms": 500}, name)
    publisher.fence()
    publisher.publish(make_batch(1, 5))
    delete_topic(cluster.bootstrap, f"zklake.{name}")
    with pytest.raises(LogError, match=rf"topic zklake\.{name} is gone"):
        publisher.publish(make_batch(6, 5))
    publisher.close()


class InterruptedPublisher(Publisher):
    """Does something else between the delivery of a batch and its commit."""

    interrupt = staticmethod(lambda: None)

    def _commit(self) -> None:
        self.interrupt()
        super()._commit()


def test_fenced_between_produce_and_commit_the_batch_stays_invisible(
    cluster: Cluster, name: str
) -> None:
    second = Publisher(cluster.bootstrap, {}, name)
    first = InterruptedPublisher(cluster.bootstrap, {}, name)
    first.fence()
    first.publish(make_batch(1, 5))
    first.interrupt = second.fence
    with pytest.raises(Fenced):
        first.publish(make_batch(6, 5))
    second.publish(make_batch(6, 3))
    assert read_seqs(cluster.bootstrap, name) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert read_seqs(cluster.bootstrap, name, "read_uncommitted") == [*range(1, 11), 6, 7, 8]
    first.close()
    second.close()


@pytest.mark.parametrize(("dies_at", "last"), [("before_commit", 10), ("after_commit", 20)])
def test_kill_9_around_the_commit_leaves_no_hole_and_no_repeat(
    cluster: Cluster, name: str, dies_at: str, last: int
) -> None:
    command = [sys.executable, "-m", "tests.watcher.log.dying_publisher"]
    dead = subprocess.run([*command, cluster.bootstrap, name, dies_at], timeout=60, check=False)
    assert dead.returncode == -9
    publisher = Publisher(cluster.bootstrap, {}, name)
    publisher.fence()
    resume = read_tree(cluster.bootstrap, {}, name)
    assert resume.problem is None
    assert resume.meta is not None
    assert resume.rows is not None
    assert (resume.meta.seq, len(resume.rows)) == (last, last)
    publisher.publish(make_batch(resume.meta.seq + 1, 10))
    publisher.close()
    assert read_seqs(cluster.bootstrap, name) == list(range(1, last + 11))


def test_a_topic_re_created_under_us_is_noticed_before_the_commit(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    publisher.publish(make_batch(1, 50))
    delete_topic(cluster.bootstrap, f"zklake.{name}.tree")
    ensure_topics(cluster.bootstrap, {}, name)
    with pytest.raises(LogError, match="re-created or cut"):
        publisher.publish(make_batch(51, 500))
    publisher.close()
    again = Publisher(cluster.bootstrap, {}, name)
    again.fence()
    resume = read_tree(cluster.bootstrap, {}, name)
    assert resume.problem == "model_lost"
    assert resume.meta is not None
    assert resume.meta.seq == 50
    again.close()


def test_a_transaction_the_broker_gave_up_is_not_taken_for_a_rival(
    cluster: Cluster, name: str
) -> None:
    publisher = InterruptedPublisher(cluster.bootstrap, {"transaction.timeout.ms": 1_000}, name)
    publisher.fence()
    publisher.publish(make_batch(1, 5))
    # The coordinator looks for expired transactions every 10 s.
    waits = iter([12.0])
    publisher.interrupt = lambda: time.sleep(next(waits, 0.0))
    with pytest.raises(LogError, match="gave up our transaction after 1 s") as given_up:
        publisher.publish(make_batch(6, 5))
    assert not isinstance(given_up.value, Fenced)
    publisher.close()
    publisher = InterruptedPublisher(cluster.bootstrap, {}, name)
    publisher.fence()
    publisher.publish(make_batch(6, 5))
    publisher.close()
    assert read_seqs(cluster.bootstrap, name) == list(range(1, 11))


def test_stop_and_close_do_not_wait_for_a_kafka_that_is_not_there() -> None:
    states: list[tuple[bool, str]] = []
    deadline = time.monotonic() + 3
    publisher = Publisher(
        "127.0.0.1:1",
        {},
        "nobody",
        on_state=lambda connected, reason: states.append((connected, reason)),
        stopping=lambda: time.monotonic() > deadline,
    )
    with pytest.raises(GaveUp, match="Connection refused"):
        publisher.fence()
    publisher.close()
    del publisher
    assert time.monotonic() < deadline + 60
    assert states == []  # it never was connected


@pytest.mark.faults
def test_a_broker_killed_while_we_publish_costs_nothing_but_time() -> None:
    from lab.cluster import Cluster

    batches = 200
    states: list[bool] = []
    stopping = threading.Event()
    with Cluster(session_timeout_ms=2_000) as cluster:
        name = name_cluster()
        ensure_topics(cluster.bootstrap, {}, name)
        publisher = Publisher(
            cluster.bootstrap,
            {},
            name,
            on_state=lambda connected, reason: states.append(connected),
            stopping=stopping.is_set,
        )
        publisher.fence()

        def publish_all() -> None:
            for number in range(batches):
                publisher.publish(make_batch(1 + number * 20, 20))
                time.sleep(0.01)

        writer = threading.Thread(target=publish_all)
        writer.start()
        for _ in range(2):
            time.sleep(0.7)
            assert writer.is_alive()
            cluster.brokers[0].kill()
            time.sleep(1)
            cluster.brokers[0].restart()
        writer.join(timeout=120)
        assert read_seqs(cluster.bootstrap, name) == list(range(1, batches * 20 + 1))
        resume = read_tree(cluster.bootstrap, {}, name)
        assert resume.problem is None
        assert len(resume.rows or ()) == batches * 20
        assert states[:2] == [True, False]
        assert states[-1] is True

        cluster.brokers[0].kill()
        threading.Timer(6, stopping.set).start()
        with pytest.raises(GaveUp):
            publisher.publish(make_batch(batches * 20 + 1, 100))
        assert publisher.connected is False
        stopped_at = time.monotonic()
        publisher.close()
        assert time.monotonic() - stopped_at < 60
