"""Fixtures over the lab: real servers, started once for a run of pytest and gone with it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lab.cluster import Cluster
    from lab.zookeeper import ZooKeeperServer


@pytest.fixture(autouse=True)
def logging_of_its_own() -> Iterator[None]:
    """A command run in this process sets up logging on the stderr of its test, which is closed."""
    import structlog

    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeperServer]:
    """A ZooKeeper server of its own, without Kafka: each test works under its `chroot`."""
    from lab.zookeeper import ZooKeeperServer

    with ZooKeeperServer() as server:
        yield server


@pytest.fixture
def chroot(zookeeper: ZooKeeperServer) -> str:
    """A path that no other test uses, created in `zookeeper`."""
    from kazoo.client import KazooClient

    path = f"/test-{uuid.uuid4().hex[:12]}"
    client = KazooClient(zookeeper.connect_string)
    client.start()
    try:
        client.create(path)
    finally:
        client.stop()
        client.close()
    return path


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One Kafka broker and its ZooKeeper: each test makes topics with names of its own."""
    from lab.cluster import Cluster

    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark with Delta and the Kafka source, as the stream runs it."""
    from streaming.session import build_session

    session = build_session("zklake-tests")
    yield session
    session.stop()
