"""Everything between a ZooKeeper ensemble and the tables, as processes that can be hurt one by one.

Three ZooKeeper servers, each behind a proxy; a Kafka of its own for the log; `zklake watch`,
`zklake stream`; and somebody who writes all the time. What was written is told by ZooKeeper's own
logs, never by the writer.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.ensemble import ZooKeeperEnsemble
from tests.e2e.lake_differences import find_differences
from tests.proxy import Proxy
from tests.reference.accounting import Accounts, account
from tests.reference.completeness import read_majority
from tests.reference.fold.tables import fold_events
from tests.reference.tree import fold, restrict
from tests.watcher.storm import Storm
from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for, write_mark
from zklake.events.envelope import Event
from zklake.supervision.child_process import ChildProcess

CHROOT = "/kafka"
Program = tuple[str, ...]
_PROGRAM: Program = ("-m", "zklake")
_ENVIRON = {"ZKLAKE_ZOOKEEPER__SESSION_TIMEOUT_MS": "4000"}


class Pipeline:
    """The processes; whoever ends one of them starts it again."""

    def __init__(
        self,
        directory: Path,
        stack: ExitStack,
        *,
        seed: int,
        rate: float,
        program: Program = _PROGRAM,
    ) -> None:
        self.directory, self.lake = directory, str(directory / "lake")
        self.patience_s, self._program = 240.0, program
        self.zookeeper = stack.enter_context(ZooKeeperEnsemble(3))
        self.kafka = stack.enter_context(Cluster(session_timeout_ms=2_000))
        self.proxies = [stack.enter_context(Proxy(one.port)) for one in self.zookeeper.servers]
        self.storm = stack.enter_context(
            Storm(self.zookeeper.connect_string + CHROOT, seed=seed, rate=rate)
        )
        seen_at = ",".join(proxy.address for proxy in self.proxies) + CHROOT
        self.watcher = stack.enter_context(
            WatcherProcess(
                seen_at, self.kafka.bootstrap, directory, environ=_ENVIRON, program=program
            )
        )
        self.cluster = self.watcher.cluster
        # Paths, below the chroot, that the watcher may never read.
        self.sealed: set[str] = set()
        self.stream_options = ["--log", self.kafka.bootstrap, "--lake", self.lake]
        self.stream_options += ["--cluster", self.cluster]
        (directory / "zklake.toml").write_text(
            '[stream]\nhttp = "127.0.0.1:0"\ntrigger_ms = 200\nlease_stale_s = 6\n'
        )
        self.stream = self.start_stream()
        stack.callback(self.end_stream)

    def start_stream(self, log: str = "stream.log") -> ChildProcess:
        """As a user would; its output goes on in one file."""
        command = [sys.executable, *self._program, "stream", *self.stream_options]
        command += ["--config", str(self.directory / "zklake.toml")]
        return ChildProcess(command, self.directory / log)

    def end_stream(self) -> None:
        """Kill -9 of the stream that runs now, and of its JVM."""
        self.stream.strike()
        self.stream.kill()

    def find_stream_http(self) -> str:
        """Where the stream that runs now answers: it says so when it starts."""
        said = re.findall(r'"http": "([0-9.:]+)"', (self.directory / "stream.log").read_text())
        return str(said[-1])

    def read_tail(self) -> str:
        """What watcher and stream said last."""
        return f"{self.watcher.process.tail()}\n{self.stream.tail()}"

    def measure_recovery(self) -> float:
        """Seconds until a znode that is created now stands in the tables."""
        began = time.monotonic()
        path = self._write_mark()
        self._wait(f"{path} in the lake", lambda: self._is_in_lake(path))
        return time.monotonic() - began

    def _write_mark(self) -> str:
        # Past the proxies: a fault between watcher and server is no fault of the writer.
        return write_mark(self.zookeeper.connect_string + CHROOT)

    def _is_in_lake(self, path: str) -> bool:
        asked = f"SELECT count(*) AS n FROM znode_events WHERE path = '{path}'"
        is_made = (Path(self.lake) / self.cluster / "znode_events" / "_delta_log").exists()
        return is_made and bool(read_rows(self.lake, self.cluster, asked)[0]["n"])

    def _wait(self, what: str, is_true: Callable[[], Any]) -> None:
        try:
            wait_for(what, is_true, self.patience_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.read_tail()}") from error

    def read_log(self) -> list[dict[str, Any]]:
        """Every record, once everything written is in it; the storm must be over."""
        tail = LogTail(self.kafka.bootstrap, self.cluster)
        catch_up(self.watcher, tail, self.patience_s)
        self.watcher.process.stop(60)
        records = tail.read_all()
        tail.close()
        return records

    def account(self, records: list[dict[str, Any]]) -> Accounts:
        """ZooKeeper's own logs, transaction by transaction, beside the records."""
        txns = read_majority([server.txn_log_dir for server in self.zookeeper.servers])
        changes, _ = fold(list(txns))
        return account(list(restrict(changes, CHROOT)), records, self.sealed)

    def compare_tables(self, records: list[dict[str, Any]]) -> list[Any]:
        """By table, what is not the reference fold of these records."""
        last = records[-1]["seq"]
        asked = "SELECT max(valid_from_seq) AS seq FROM log_gaps"
        # The watcher's last word is the gap that its stop leaves.
        self._wait(
            "the last gap", lambda: read_rows(self.lake, self.cluster, asked)[0]["seq"] == last
        )
        wanted = fold_events(msgspec.convert(record, Event) for record in records)
        asked = "SELECT seq FROM znode_events ORDER BY seq"
        kept = [row["seq"] for row in read_rows(self.lake, self.cluster, asked)]
        right = [row["seq"] for row in wanted["znode_events"]]
        events: list[Any] = [] if kept == right else [("znode_events", len(kept), len(right), [])]
        return [*find_differences(self.cluster, self.lake, wanted), *events]

    def audit(self) -> dict[str, Any]:
        """What `zklake audit` finds, while everything runs."""
        command = [sys.executable, "-m", "zklake", "audit", "--json", "--lake", self.lake]
        command += ["--zookeeper", self.watcher.zookeeper, "--log", self.kafka.bootstrap]
        done = subprocess.run(
            [*command, "--cluster", self.cluster], capture_output=True, text=True, check=False
        )
        assert done.stdout, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report


@contextmanager
def running_pipeline(
    directory: Path, *, seed: int, rate: float = 50.0, program: Program = _PROGRAM
) -> Iterator[Pipeline]:
    """Until left; ready when the first row is there. `rate`: writes in a second, at most."""
    with ExitStack() as stack:
        pipeline = Pipeline(directory, stack, seed=seed, rate=rate, program=program)
        pipeline.measure_recovery()
        yield pipeline
