from __future__ import annotations

import time

import pytest

from lab.cluster import Cluster
from lab.ports import find_free_ports
from streaming.lake.progress import LakeProgress
from streaming.log.identity import LogPartition, accept_log, check_log
from tests.streaming.story import Story
from tests.streaming.topic import Topic
from zklake.errors import LakeError, LogError, OtherLog


def check(cluster: Cluster, topic: Topic, **progress: object) -> None:
    with LogPartition(cluster.bootstrap, {}, topic.name) as partition:
        check_log(partition, LakeProgress(**progress), "/lake/c")  # type: ignore[arg-type]


@pytest.mark.integration
def test_the_log_is_compared_with_the_lake(cluster: Cluster) -> None:
    topic = Topic(cluster.bootstrap)
    topic.write(Story().register(1, czxid=10).events)  # seq 1000 and 1001, then a marker
    topic.write(Story("c", "log-1").register(1, czxid=10).leave(1, czxid=10, zxid=20).events[2:])

    check(cluster, topic)
    check(cluster, topic, log_id="log-1", seq=1001, offset=2)
    check(cluster, topic, log_id="log-1", seq=1002, offset=4)
    # The event of a hole stands one seq before the record that showed it, that of a repeat any
    # number behind the record that came again.
    for seq in (1000, 1007):
        check(cluster, topic, log_id="log-1", seq=seq, offset=2, is_own=True)
    for other, found in (
        ({"log_id": "log-2", "seq": 1001, "offset": 2}, "offset 1 holds seq 1001 of log log-1"),
        ({"log_id": "log-1", "seq": 1002, "offset": 2}, "offset 1 holds seq 1001 of log log-1"),
        ({"log_id": "log-1", "seq": 1000, "offset": 2}, "offset 1 holds seq 1001 of log log-1"),
        (
            {"log_id": "log-2", "seq": 1000, "offset": 2, "is_own": True},
            "offset 1 holds seq 1001 of log log-1",
        ),
        ({"log_id": "log-1", "seq": 1001, "offset": 3}, "offset 2 holds no record"),
        ({"log_id": "log-1", "seq": 1001, "offset": 9}, "it ends at offset 5"),
    ):
        with pytest.raises(OtherLog, match=rf"{found}.*--accept-log"):
            check(cluster, topic, **other)

    topic.trim(2)
    check(cluster, topic, log_id="log-1", seq=1001, offset=2)
    with pytest.raises(LakeError, match="no longer holds what follows offset 0") as caught:
        check(cluster, topic, log_id="log-1", seq=1000, offset=1)
    assert not isinstance(caught.value, OtherLog)


@pytest.mark.integration
def test_a_topic_that_is_not_there_is_not_made(cluster: Cluster) -> None:
    topic = Topic(cluster.bootstrap, create=False)
    for _ in range(2):
        with pytest.raises(LogError, match=rf"{topic.name}.*zklake watch"):
            check(cluster, topic)


def test_a_kafka_that_is_away_is_said_soon() -> None:
    started = time.monotonic()
    nowhere = f"127.0.0.1:{find_free_ports(1)[0]}"
    with (
        LogPartition(nowhere, {}, "t") as partition,
        pytest.raises(LogError, match=f"topic t on {nowhere} cannot be read"),
    ):
        check_log(partition, LakeProgress(), "/lake/c")
    assert time.monotonic() - started < 60


def test_an_accepted_log_is_read_from_its_beginning_and_seq_goes_on() -> None:
    old = LakeProgress("log-1", 7, 5, 9, 8, 1000, quarantined_offset=4)
    new = accept_log(old)
    assert (new.log_id, new.offset, new.read_offset, new.read_seq) == (None, None, -1, -1)
    assert new.quarantined_offset == -1
    assert (new.seq, new.read_at_ms) == (7, 1000)
    assert old.log_id == "log-1"
