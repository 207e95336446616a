"""The oracle against the real thing: what the log folds to is what ZooKeeper answers."""

from __future__ import annotations

import importlib.util
import re
import struct
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from lab.zookeeper import VERSIONS, ZooKeeperServer
from tests.reference.completeness import find_holes
from tests.reference.load import run_load
from tests.reference.load_session import close, connect
from tests.reference.tree import BUILT_IN, Tree, fold
from tests.reference.txnlog import CLOSE_SESSION, Txn, TxnLogError, read_dir

_STAT = ("version", "cversion", "czxid", "mzxid", "pzxid", "aversion", "ephemeral_owner")


def read_live(client: Any) -> dict[str, tuple[Any, ...]]:
    """Data and stat of every znode that is not the server's own."""
    live, todo = {}, ["/"]
    while todo:
        path = todo.pop()
        data, stat = client.get(path)
        live[path] = (data, *_live_stat(stat))
        todo += [f"{path.rstrip('/')}/{name}" for name in client.get_children(path)]
    return {path: row for path, row in live.items() if path not in BUILT_IN}


def _live_stat(stat: Any) -> tuple[int, ...]:
    names = {"ephemeral_owner": "ephemeralOwner"}
    return tuple(getattr(stat, names.get(name, name)) for name in _STAT)


def describe(tree: Tree) -> dict[str, tuple[Any, ...]]:
    """The folded tree in the same shape."""
    return {
        path: (znode.data, *(getattr(znode, name) for name in _STAT))
        for path, znode in tree.znodes.items()
        if path not in BUILT_IN
    }


def count_by_toolkit(file: Path) -> int:
    """How many transactions ZooKeeper's own TxnLogToolkit finds in the file."""
    tool = "org.apache.zookeeper.server.persistence.TxnLogToolkit"
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    classpath = f"{Path(spec.origin).parent}/jars/*"
    command = ["java", "-Xmx256m", "-cp", classpath, tool, "-d", str(file)]
    dump = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    (count,) = re.findall(r"EOF reached after (\d+) txns", dump)
    return int(count)


@pytest.mark.integration
@pytest.mark.parametrize("version", VERSIONS)
def test_folded_log_equals_live_tree(version: str) -> None:
    modern = not version.startswith("3.4")
    options = ["-Dznode.container.checkIntervalMs=300"]
    with ZooKeeperServer(version=version, jvm_options=options) as server:
        client = connect(server.address)
        client.add_auth("digest", "oracle:sealed")
        # This session stays: its ephemeral must stand in both trees.
        client.create("/held", b"", ephemeral=True)
        run_load(f"{server.address}/kafka", seed=4, rounds=4, has_containers=modern, seals=True)
        server.kill()
        server.start()
        run_load(f"{server.address}/kafka", seed=5, rounds=1, has_containers=modern, seals=True)
        txns, live = _settle(server, client)
        close(client)
        changes, tree = fold(txns)
        assert describe(tree) == live
        assert find_holes(txns) == []
        assert any(txn.aborted for txn in txns)
        assert any(change.session_close for change in changes)
        listed = any(txn.closed_paths for txn in txns if txn.type == CLOSE_SESSION)
        assert listed is modern
        if modern:
            files = sorted(server.txn_log_dir.glob("log.*"))
            assert len(files) > 1
            assert sum(map(count_by_toolkit, files)) == len(list(read_dir(server.data_dir)))


def _settle(server: ZooKeeperServer, client: Any) -> tuple[list[Txn], dict[str, tuple[Any, ...]]]:
    """The log and the live tree of one moment: TTL nodes and containers go by themselves."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if client.retry(client.get_children, "/kafka/ttl"):
            time.sleep(0.2)
            continue
        live = read_live(client)
        txns = list(read_dir(server.data_dir))
        if read_live(client) == live:
            return txns, live
    raise AssertionError("the tree did not come to rest")


def test_damage_before_the_tail_is_an_error_and_a_torn_tail_is_the_end(tmp_path: Path) -> None:
    record = make_record(zxid=1) + make_record(zxid=2)
    whole = b"ZKLG\0\0\0\2" + bytes(8) + record + bytes(64)
    log = tmp_path / "log.1"
    log.write_bytes(whole)
    assert [txn.zxid for txn in read_dir(tmp_path)] == [1, 2]
    log.write_bytes(whole[: 16 + len(record) - 3])
    assert [txn.zxid for txn in read_dir(tmp_path)] == [1]
    log.write_bytes(whole[:40] + b"\x99" + whole[41:])
    with pytest.raises(TxnLogError, match="Adler-32"):
        list(read_dir(tmp_path))


def make_record(zxid: int) -> bytes:
    """One error transaction as the server frames it."""
    body = struct.pack(">qiqqii", 7, 1, zxid, 1000, -1, -110)
    return struct.pack(">qi", zlib.adler32(body), len(body)) + body + b"B"
