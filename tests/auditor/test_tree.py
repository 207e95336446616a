"""The auditor's walk of a real tree."""

from __future__ import annotations

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from auditor.comparison import ZnodeTable
from auditor.tree import open_tree
from lab.zookeeper import ZooKeeperServer
from zklake.settings.models import ZooKeeperSettings

pytestmark = pytest.mark.integration


def test_a_znode_that_shuts_the_auditor_out_is_passed_over(
    zookeeper: ZooKeeperServer, chroot: str
) -> None:
    """ZooKeeper 3.9 refuses even to say that it exists."""
    where = f"{zookeeper.connect_string}{chroot}"
    client = KazooClient(where)
    client.start()
    client.add_auth("digest", "owner:secret")
    client.create("/brokers/topics/open", b"{}", makepath=True)
    sealed = [make_digest_acl("owner", "secret", all=True)]
    client.create("/brokers/topics/sealed", b"{}", acl=sealed)
    try:
        with open_tree(ZooKeeperSettings(connect=where), 1_000) as tree:
            places = [place for place, _ in tree.walk()]
            assert places == [ZnodeTable("topics", "/brokers/topics/open")]
            assert tree.unreadable == {"/brokers/topics/sealed"}
            assert tree.read("/brokers/topics/sealed") is None
    finally:
        client.stop()
        client.close()
