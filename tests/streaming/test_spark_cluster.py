"""A large log folded on a standalone Spark cluster, while a worker and the driver are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from bench.catch_up import make_records
from bench.processes import list_children
from delta_tables import reading
from delta_tables.catalog import TABLES
from lab.cluster import Cluster
from lab.spark_cluster import SparkCluster, SparkWorker
from streaming.daemon import run_once
from streaming.query import Stream
from tests.streaming.topic import Topic

pytestmark = [
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]

RECORDS, BATCH = 24_000, 3_000
PATIENCE_S = 240.0


@pytest.fixture(scope="module")
def executors_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the dependencies of zklake, and without zklake itself."""
    home = tmp_path_factory.mktemp("executor")
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    # Paths in such a file are added as they are: the .pth of an editable install is not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    python = home / "bin" / "python"
    has = subprocess.run(
        [python, "-c", "import msgspec, pyarrow, deltalake, pyspark; import streaming"],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named 'streaming'" not in has.stderr:
        pytest.fail(f"the executors' Python must lack zklake, and nothing else: {has.stderr}")
    return python


@pytest.fixture(scope="module")
def workers() -> Iterator[SparkCluster]:
    with SparkCluster(2) as cluster:
        yield cluster


class Driver:
    """`zklake stream --once` against the cluster, in a process of its own; or another command."""

    def __init__(
        self,
        environ: Mapping[str, str],
        log_file: Path,
        command: Sequence[str] = ("stream", "--once"),
    ) -> None:
        self._log_file = log_file
        with log_file.open("ab") as output:
            self.process = subprocess.Popen(
                [Path(sys.executable).with_name("zklake"), *command],
                env={**os.environ, **environ},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def wait_for(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_true():
            assert self.process.poll() is None, self.read_log()
            assert time.monotonic() < deadline, self.read_log()
            time.sleep(0.05)

    def finish(self) -> None:
        assert self.process.wait(PATIENCE_S) == 0, self.read_log()

    def kill(self) -> None:
        """With its JVM, as a machine would go."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)

    def read_log(self) -> str:
        return self._log_file.read_text(errors="replace")[-4000:]


def kill_with_executors(worker: SparkWorker) -> None:
    executors = list_children(worker.pid)
    assert executors, "the worker has no executor"
    for pid in executors:
        os.kill(pid, signal.SIGKILL)
    worker.kill()


def count_batches(lake: Path) -> int:
    """How many batches are committed."""
    return max(0, len([*lake.glob("*/znode_events/_delta_log/*.json")]) - 1)


def read_table(lake: Path, cluster: str, table: str) -> list[dict[str, Any]]:
    rows = reading.read_rows(str(lake), cluster, f"SELECT * FROM {table}")
    kept = [{k: v for k, v in row.items() if k != "ingested_at"} for row in rows]
    return sorted(kept, key=lambda row: json.dumps(row, default=str, sort_keys=True))


def compare(lake: Path, other: Path, cluster: str) -> None:
    for table in TABLES:
        expected = read_table(other, cluster, table.name)
        assert read_table(lake, cluster, table.name) == expected, table.name


def test_kills_on_a_cluster_leave_the_tables_of_a_local_run(
    spark: SparkSession,
    cluster: Cluster,
    workers: SparkCluster,
    executors_python: Path,
    tmp_path: Path,
) -> None:
    topic = Topic(cluster.bootstrap)
    name = topic.name.removeprefix("zklake.")
    topic.write([*make_records(name, RECORDS)])
    local, lake = tmp_path / "local", tmp_path / "lake"
    run_once(spark, Stream(cluster.bootstrap, topic.name, name, str(local), max_records=BATCH))
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.pyspark.python": str(executors_python),
    }
    environ = {
        "ZKLAKE_CLUSTER": name,
        "ZKLAKE_LOG__BOOTSTRAP": cluster.bootstrap,
        "ZKLAKE_LAKE__PATH": str(lake),
        "ZKLAKE_STREAM__MASTER": workers.master.url,
        "ZKLAKE_STREAM__SPARK": json.dumps(options),
        "ZKLAKE_STREAM__TASK_RECORDS": str(BATCH // 2),
        "ZKLAKE_STREAM__MAX_OFFSETS_PER_TRIGGER": str(BATCH),
        "ZKLAKE_STREAM__LEASE_STALE_S": "3",
    }
    driver = Driver(environ, tmp_path / "driver.log")
    try:
        driver.wait_for(lambda: count_batches(lake) >= 1)
        kill_with_executors(workers.workers[0])
        driver.wait_for(lambda: count_batches(lake) >= 2)
        driver.kill()
        assert count_batches(lake) < RECORDS // BATCH, "the driver was killed too late"
        driver = Driver(environ, tmp_path / "driver.log")
        driver.finish()
    finally:
        if driver.process.poll() is None:
            driver.kill()
    assert "folded by the driver" not in driver.read_log()
    compare(lake, local, name)
    # Each task makes a file of events; the driver alone would make one in each batch.
    files = reading.open_tables(str(lake), name)["znode_events"].file_uris()
    assert len(files) > 2 * RECORDS // BATCH
    # A rebuild on the executors that are left.
    driver = Driver(environ, tmp_path / "rebuild.log", ("rebuild",))
    driver.finish()
    assert "folding part 1 of 1 of the log in Spark tasks" in driver.read_log()
    compare(lake, local, name)
