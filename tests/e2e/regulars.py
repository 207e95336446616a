"""Groups that go on when the stories are over: somebody must be there to be counted.

One of ZooKeeper has a member with nothing to do, one of Kafka has stopped reading, one has an
offset on one partition only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from kazoo.client import KazooClient

from lab.cluster import Cluster
from lab.kafka_consumer import KafkaMember
from lab.zookeeper_consumer.process import ConsumerProcess
from lab.zookeeper_consumer.producing import produce
from tests.e2e.live_truth import read_live
from tests.watcher.watching import wait_for

TOPIC, OLD, NEW, SPARSE = "regular", "regular-old", "regular-new", "regular-sparse"


@contextmanager
def keep_regulars(cluster: Cluster) -> Iterator[None]:
    """Until left; nothing of them changes any more."""
    cluster.create_topic(TOPIC, 3)
    with ExitStack() as stack:
        for suffix, streams in (("a", 3), ("b", 1)):
            stack.enter_context(
                ConsumerProcess(
                    cluster.zookeeper_connect,
                    OLD,
                    topics=[TOPIC],
                    streams=streams,
                    member_suffix=suffix,
                )
            )
        member = stack.enter_context(KafkaMember(cluster.bootstrap, NEW, "new", TOPIC))
        # For 15 s, with a commit each second: Burrow judges by the last ten.
        produce(cluster.bootstrap, TOPIC, 150, rate=10)
        wait_for("both groups at the end", lambda: is_read(cluster, OLD) and is_read(cluster, NEW))
        member.stall()
        produce(cluster.bootstrap, TOPIC, 30)
        wait_for("the old group at the end", lambda: is_read(cluster, OLD))
        with closing(KazooClient(cluster.zookeeper_connect)) as client:
            client.start()
            client.create(f"/consumers/{SPARSE}/offsets/{TOPIC}/1", b"5", makepath=True)
            client.stop()
        yield


def is_read(cluster: Cluster, group: str) -> bool:
    """Whether the group has committed all there is."""
    live = read_live(cluster)
    places = {place[1:]: offset for place, offset in live.merge().items() if place[0] == group}
    return places == {place: end for place, end in live.ends.items() if place[0] == TOPIC}
