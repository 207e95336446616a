"""Faults that writers make: what they write is legal, and hard on whoever watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry
from kazoo.security import make_digest_acl

from tests.e2e.pipeline import CHROOT, Pipeline

# The server takes a request of 1 MiB at most, its path and ACL included.
_LARGE = 1_000_000
_MANY = 500
_PATIENCE_S = 120


@contextmanager
def seal_znodes(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """Some znodes shut the watcher out from their first moment on, and are written all the same."""
    paths = _name(dice, "sealed")
    pipeline.sealed.update(paths)
    acl = [make_digest_acl("owner", "secret", all=True)]
    with _connect(pipeline) as client:
        client.add_auth("digest", "owner:secret")
        for path in paths:
            _insist(partial(client.create, path, b"{}", acl=acl))
        yield
        for path in paths:
            _insist(partial(client.set, path, b'{"version":1}'))
        _insist(partial(client.delete, paths[0]))


@contextmanager
def write_large_znodes(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """Nearly as large as ZooKeeper takes, and no JSON: read, and withheld."""
    paths = _name(dice, "large")
    with _connect(pipeline) as client:
        for path in paths:
            _insist(partial(client.create, path, dice.randbytes(_LARGE)))
        yield
        for path in paths:
            _insist(partial(client.set, path, dice.randbytes(_LARGE)))
        _insist(partial(client.delete, paths[0]))


@contextmanager
def write_many_at_once(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """Transactions of hundreds of operations, each at one zxid."""
    with _connect(pipeline) as client:
        for above in _name(dice, "many"):
            _insist(partial(client.create, above, b"{}"))
            children = [f"{above}/{number}" for number in range(_MANY)]
            _insist(partial(_commit, client, "create", children))
            _insist(partial(_commit, client, "delete", children))
        yield


def _name(dice: Random, what: str) -> list[str]:
    return [f"/brokers/topics/{what}-{dice.getrandbits(40):x}" for _ in range(3)]


def _commit(client: KazooClient, act: str, paths: list[str]) -> None:
    transaction = client.transaction()
    for path in paths:
        getattr(transaction, act)(path)
    for result in transaction.commit():
        if isinstance(result, KazooException):
            raise result


def _insist(act: Callable[[], object]) -> None:
    """Until it is done, whatever happens to the server that is asked."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            act()
        except (NodeExistsError, NoNodeError):
            return  # the try before was done, and its answer was lost
        except (KazooException, KazooTimeoutError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


@contextmanager
def _connect(pipeline: Pipeline) -> Iterator[KazooClient]:
    """A client past the proxies."""
    retry = KazooRetry(max_tries=-1, delay=0.1, max_delay=1)
    client = KazooClient(pipeline.zookeeper.connect_string + CHROOT, connection_retry=retry)
    client.start(timeout=60)
    try:
        yield client
    finally:
        client.stop()
        client.close()
