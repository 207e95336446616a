"""From ZooKeeper's answer to the writer, to the row in the hands of a reader of the Delta table.

Watcher and stream run as a user would start them. A round writes one znode of each of so many
tables at once and waits until every row can be read through deltalake.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kazoo.client import KazooClient

from bench.figures import Figure, percentile
from bench.stage import Stage, connect
from bench.znodes import make_state
from delta_tables.reading import open_table, query_rows
from lab.ports import find_free_ports
from zklake.errors import LabError
from zklake.supervision.part import ProductPart, Site, build_stream

_PATIENCE_S = 300.0
_POLL_S = 0.02
# The first changes after a start meet a cold JVM: of them one took 1.5 s, 0.17 of it in its batch.
_WARM_UP = 10

# By table: a znode of it, and a value; the number makes each write a new one.
_ZNODES = {
    "partition_state": ("/brokers/topics/t/partitions/0/state", make_state),
    "ownership_history": ("/consumers/g/owners/t/0", lambda n: f"g_host-{n}-0".encode()),
    "topics": (
        "/brokers/topics/t",
        lambda n: b'{"version":1,"partitions":{"0":[%d,2]}}' % (n % 1000),
    ),
    "consumer_membership": (
        "/consumers/g/ids/g_host",
        lambda n: b'{"version":1,"subscription":{"t":%d},"pattern":"static","timestamp":"1"}' % n,
    ),
    "broker_membership": (
        "/brokers/ids/1",
        lambda n: b'{"version":1,"host":"h","port":%d,"jmx_port":-1,"timestamp":"1"}' % n,
    ),
    "admin_operations": (
        "/admin/reassign_partitions",
        lambda n: b'{"version":1,"partitions":[{"topic":"t","partition":%d,"replicas":[1]}]}' % n,
    ),
}
_GOALS = {1: ("≤ 0.5", "≤ 1.0"), 3: ("≤ 0.6", "≤ 1.2"), 6: ("≤ 0.7", "≤ 1.5")}


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds until the last row of a round is visible, p50 and p99, by tables touched."""
    # Of fewer than a hundred, p99 is the worst of all.
    rounds = 8 if quick else 120
    root = stage.make_root()
    figures = []
    with connect(root) as client, stage.watching(root) as (_, tail):
        _create(client)
        with _streaming(stage, tail.cluster) as lake:
            for _ in range(_WARM_UP):
                _touch(client, lake, tail.cluster, 6)
            for tables, (p50, p99) in _GOALS.items():
                took = [_touch(client, lake, tail.cluster, tables) for _ in range(rounds)]
                name = f"{tables} table{'s' if tables > 1 else ''} touched"
                figures += [
                    Figure(f"{name}, p50", [percentile(took, 0.5)], "s", p50),
                    Figure(f"{name}, p99", [percentile(took, 0.99)], "s", p99),
                ]
    return figures


def _create(client: KazooClient) -> None:
    for path, value in _ZNODES.values():
        client.ensure_path(path)
        client.set(path, value(0))


def _touch(client: KazooClient, lake: str, cluster: str, tables: int) -> float:
    """Write to so many tables at once; seconds until all of it can be read."""
    number = time.monotonic_ns() // 1_000_000 % 2**31
    asked = {}
    for name, (path, value) in list(_ZNODES.items())[:tables]:
        asked[name] = client.set_async(path, value(number))
    waiting = {name: answer.get().mzxid for name, answer in asked.items()}
    began = time.monotonic()
    while waiting:
        for name, zxid in list(waiting.items()):
            if _is_visible(lake, cluster, name, zxid):
                del waiting[name]
        if time.monotonic() - began > _PATIENCE_S:
            raise LabError(f"no row of {', '.join(waiting)} within {_PATIENCE_S:.0f} s")
        time.sleep(_POLL_S)
    return time.monotonic() - began


def _is_visible(lake: str, cluster: str, name: str, zxid: int) -> bool:
    sql = f"SELECT count(*) AS n FROM {name} WHERE is_open AND valid_from_zxid >= {zxid}"  # noqa: S608
    table = open_table(lake, cluster, name)
    return table is not None and bool(query_rows({name: table}, sql)[0]["n"])


@contextmanager
def _streaming(stage: Stage, cluster: str) -> Iterator[str]:
    """`zklake stream`, ready; yields its lake."""
    lake = str(stage.directory / f"lake-{cluster}")
    site = Site(stage.cluster.zookeeper_connect, stage.cluster.bootstrap, cluster, lake)
    part = build_stream(site, f"127.0.0.1:{find_free_ports(1)[0]}", stage.directory)
    part.launch()
    try:
        _await_ready(part)
        yield lake
    finally:
        part.stop(timeout_s=60)


def _await_ready(part: ProductPart) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while obstacle := part.find_obstacle():
        if not part.is_alive() or time.monotonic() > deadline:
            raise LabError(f"zklake stream is not ready ({obstacle}); its log: {part.log_file}")
        time.sleep(_POLL_S)
