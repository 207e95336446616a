"""Fixtures over the lab: real servers, started once for a run of pytest and gone with it.

Also the order of the files, which the workers take from one list.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lab.cluster import Cluster
    from lab.zookeeper import ZooKeeperServer

# Properties are judged by what they find, not by how long a shared machine takes for one.
hypothesis.settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("any machine")

# The stories come first, beside tests that mostly wait: they are watched by the second. Then what
# takes minutes, so that no worker is left alone with it at the end.
FIRST = (
    "tests/e2e/test_stories.py",
    "tests/watcher/",
    "tests/e2e/",
    "tests/streaming/lake/test_law_lake.py",
    "tests/streaming/test_daemon.py",
    "tests/streaming/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files; their tests stay in order."""
    items.sort(key=lambda item: next(_find_places(item.nodeid), len(FIRST)))


def _find_places(nodeid: str) -> Iterator[int]:
    return (place for place, start in enumerate(FIRST) if nodeid.startswith(start))


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
