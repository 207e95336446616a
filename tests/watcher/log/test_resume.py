from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.watcher.log.writing import LOG_ID, delete_topic, make_batch, make_row, name_cluster
from tests.watcher.simulation import PlainSealer
from watcher.chronicle import Chronicle
from watcher.log.batch import Batch
from watcher.log.publisher import Publisher
from watcher.log.resume import LastEvent, compare, read_tree
from watcher.log.sender import list_tree
from watcher.log.topics import ensure_topics
from watcher.release import Release
from watcher.tree import Tree
from zklake.events.envelope import Meta, TreeRow, encode

if TYPE_CHECKING:
    from lab.cluster import Cluster

META = Meta(LOG_ID, 10, 500, 2_000)


def make_values(meta: Meta | None, *paths: str) -> dict[bytes, bytes]:
    values = {path.encode(): encode(make_row(1)) for path in paths}
    return values if meta is None else values | {b"#meta": encode(meta)}


def test_nothing_anywhere_is_a_first_start() -> None:
    assert compare({}, None) == (None, None, "first_start", frozenset())


def test_a_tree_that_agrees_with_the_log_is_the_model() -> None:
    resume = compare(make_values(META, "/a", "/ü"), LastEvent(LOG_ID, 10, 2_000))
    assert resume == (META, {"/a": make_row(1), "/ü": make_row(1)}, None, frozenset())


@pytest.mark.parametrize(("last_seq", "seq"), [(9, 10), (11, 11)])
def test_a_tree_that_disagrees_is_lost_and_seq_never_goes_back(last_seq: int, seq: int) -> None:
    resume = compare(make_values(META, "/a"), LastEvent(LOG_ID, last_seq, 1_500, 600))
    assert resume == (Meta(LOG_ID, seq, 600, 2_000), None, "model_lost", frozenset({"/a"}))


def test_without_a_tree_the_last_event_says_where_to_go_on() -> None:
    resume = compare({}, LastEvent(LOG_ID, 10, 1_500))
    assert resume == (Meta(LOG_ID, 10, 0, 1_500), None, "model_lost", frozenset())


def test_without_events_the_tree_says_where_to_go_on() -> None:
    assert compare(make_values(META, "/a"), None) == (META, None, "model_lost", frozenset({"/a"}))


def test_another_log_in_the_tree_is_no_model() -> None:
    resume = compare(make_values(META, "/a"), LastEvent("log-2", 10, 2_000))
    assert resume.problem == "model_lost"
    assert resume.meta is not None
    assert resume.meta.log_id == "log-2"


@pytest.mark.parametrize("key", [b"/a", b"#meta"])
def test_a_tree_nobody_can_read_is_lost(key: bytes) -> None:
    values = make_values(META, "/a", "/b") | {key: b"\xff{"}
    resume = compare(values, LastEvent(LOG_ID, 10, 2_000))
    assert (resume.rows, resume.problem, resume.leftover) == (
        None,
        "model_lost",
        frozenset({"/a", "/b"}),
    )


@pytest.mark.parametrize(
    "row",
    [
        b'[1,2,0,0,0,0,0,"no hex here.....",false]',
        b'[1,2,0,0,0,0,0,"00",false]',
        b'[9223372036854775808,2,0,0,0,0,0,"",false]',
        b'[1,2,2147483648,0,0,0,0,"",false]',
        b'[1,2,0,0,0,-2147483649,0,"",false]',
    ],
)
def test_a_row_that_no_watcher_wrote_is_no_model(row: bytes) -> None:
    resume = compare(make_values(META, "/b") | {b"/a": row}, LastEvent(LOG_ID, 10, 2_000))
    assert (resume.rows, resume.problem) == (None, "model_lost")
    assert resume.leftover == {"/a", "/b"}


def test_every_row_that_can_be_read_can_be_kept() -> None:
    most, least = (1 << 31) - 1, -(1 << 31)
    row = TreeRow((1 << 63) - 1, -(1 << 63), most, least, most, least, -1, "f" * 16, True)
    resume = compare(make_values(META) | {b"/a": encode(row)}, LastEvent(LOG_ID, 10, 2_000))
    assert resume.rows == {"/a": row}
    tree = Tree()
    tree.load("/a", row)
    assert tree.list_unreadable() == ["/a"]


@pytest.mark.parametrize("key", [b"\xff/a", b"hello", b""], ids=["no text", "no path", "empty"])
def test_a_strangers_key_costs_no_model_and_is_taken_away(key: bytes) -> None:
    values = make_values(META, "/a") | {key: encode(make_row(1))}
    resume = compare(values, LastEvent(LOG_ID, 10, 2_000))
    assert (resume.rows, resume.problem) == ({"/a": make_row(1)}, None)
    release = Release("c", META, Tree(), PlainSealer())
    release.forget(resume.leftover)
    Chronicle(release).begin("restart", 3_000)
    batch = release.take()
    assert batch is not None
    assert (key, None) in list_tree(batch)


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


@pytest.mark.integration
def test_empty_topics_are_a_first_start(cluster: Cluster, name: str, publisher: Publisher) -> None:
    assert read_tree(cluster.bootstrap, {}, name) == (None, None, "first_start", frozenset())


@pytest.mark.integration
def test_the_tree_read_back_is_the_tree_written(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    dice = random.Random(4)
    model: dict[str, TreeRow] = {}
    for seq in range(1, 40):
        changed = [f"/n/{dice.randrange(50)}" for _ in range(10)]
        rows = {path: None if dice.random() < 0.4 else make_row(seq) for path in changed}
        publisher.publish(make_batch(seq)._replace(rows=rows))
        for path, row in rows.items():
            if row is None:
                model.pop(path, None)
            else:
                model[path] = row
    resume = read_tree(cluster.bootstrap, {}, name)
    assert resume.rows == model
    assert resume.problem is None
    assert resume.meta == Meta(LOG_ID, 39, 39, 1_039)


@pytest.mark.integration
def test_an_end_full_of_aborted_records_and_strangers_hides_nothing(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    publisher.publish(make_batch(1, 3))
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "transactional.id": f"zklake.{name}"}
    )
    producer.init_transactions(30)
    for _ in range(20):
        producer.begin_transaction()
        for _ in range(200):
            producer.produce(f"zklake.{name}", make_batch(4).events[0], partition=0)
            producer.produce(f"zklake.{name}.tree", b"[]", "/aborted", partition=0)
        producer.flush(30)
        producer.abort_transaction(30)
    stranger = Producer({"bootstrap.servers": cluster.bootstrap})
    stranger.produce(f"zklake.{name}", b"hello", partition=0)
    stranger.produce(f"zklake.{name}.tree", b"hello", b"\xff", partition=0)
    stranger.flush(30)
    resume = read_tree(cluster.bootstrap, {}, name)
    assert resume.problem is None
    assert resume.meta is not None
    assert resume.meta.seq == 3
    # Fenced by the producer above: a new one takes the stranger's row away.
    again = Publisher(cluster.bootstrap, {}, name)
    again.fence()
    again.publish(make_batch(4)._replace(rows=dict.fromkeys(resume.leftover)))
    again.close()
    assert read_tree(cluster.bootstrap, {}, name).leftover == frozenset()


@pytest.mark.integration
def test_half_a_base_frame_is_not_taken_for_the_tree(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    publisher.publish(make_batch(1, 3)._replace(meta=None))
    resume = read_tree(cluster.bootstrap, {}, name)
    assert (resume.rows, resume.problem, len(resume.leftover)) == (None, "model_lost", 3)
    assert resume.meta is not None
    assert resume.meta.seq == 3
    publisher.publish(Batch([], dict.fromkeys(resume.leftover), None))
    publisher.publish(make_batch(4, 2))
    healed = read_tree(cluster.bootstrap, {}, name)
    assert healed.problem is None
    assert set(healed.rows or ()) == {"/brokers/ids/4", "/brokers/ids/5"}


@pytest.mark.integration
def test_a_deleted_tree_topic_is_a_lost_model(cluster: Cluster, name: str) -> None:
    publisher = Publisher(cluster.bootstrap, {}, name)
    publisher.fence()
    publisher.publish(make_batch(1, 7))
    publisher.close()
    delete_topic(cluster.bootstrap, f"zklake.{name}.tree")
    ensure_topics(cluster.bootstrap, {}, name)
    resume = read_tree(cluster.bootstrap, {}, name)
    assert resume == (Meta(LOG_ID, 7, 0, 1_007), None, "model_lost", frozenset())


@pytest.mark.integration
def test_deleted_events_are_a_lost_model_and_seq_goes_on(
    cluster: Cluster, name: str, publisher: Publisher
) -> None:
    publisher.publish(make_batch(1, 7))
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    # Offset -1 = all there is.
    (future,) = admin.delete_records([TopicPartition(f"zklake.{name}", 0, -1)]).values()
    future.result()
    resume = read_tree(cluster.bootstrap, {}, name)
    assert (resume.problem, len(resume.leftover)) == ("model_lost", 7)
    assert resume.meta == Meta(LOG_ID, 7, 7, 1_007)
    publisher.publish(make_batch(8, 1))
    assert read_tree(cluster.bootstrap, {}, name).problem is None
