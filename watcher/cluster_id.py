"""Which Kafka cluster a tree is of: the znode that says so, and who may follow whom. Pure."""

from __future__ import annotations

from watcher.messages import NO_NODE, Reply
from zklake.errors import ZooKeeperError
from zklake.events.payloads.cluster import decode_cluster_id
from zklake.events.payloads.reading import Unreadable

CLUSTER_ID = "/cluster/id"
# Kafka's have 22 characters. It stands in every row of #meta.
_LONGEST = 100


def read_cluster_id(data: bytes | None) -> str | None:
    """The id; None when nobody can say."""
    found = decode_cluster_id(data)
    return None if isinstance(found, Unreadable) or len(found.id) > _LONGEST else found.id


def check_cluster_id(known: str, reply: Reply) -> None:
    """Raise ZooKeeperError when the tree is of another cluster than the log."""
    found = None if reply.stat is None else read_cluster_id(reply.data)
    if found == known or (found is None and reply.error != NO_NODE):
        return
    holds = f"the cluster {found}" if found else "no cluster: it has no /cluster/id"
    raise ZooKeeperError(
        f"this ZooKeeper holds {holds}; the log is of the cluster {known}. Is zookeeper.connect "
        "right, with its chroot? Another cluster needs another --cluster; if this one was made "
        "anew, give --accept-cluster once"
    )
