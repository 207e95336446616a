"""A standalone Spark cluster on 127.0.0.1: a master and its workers, out of pyspark's own jars."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from lab.ports import find_free_ports
from lab.server import Server, wait_until
from zklake import jars
from zklake.supervision.startable import Startable


class SparkMaster(Server):
    """Knows the workers, and gives their cores to applications."""

    def __init__(self) -> None:
        port, self._page_port = find_free_ports(2)
        super().__init__("spark-master", port, None)

    @property
    def url(self) -> str:
        """What an application is given."""
        return f"spark://{self.address}"

    def command(self) -> Sequence[str]:
        """The JVM's arguments."""
        place = ["--host", "127.0.0.1", "--port", str(self.port)]
        page = ["--webui-port", str(self._page_port)]
        return [*_make_options(), "org.apache.spark.deploy.master.Master", *place, *page]

    def is_ready(self) -> bool:
        """Whether its port is open."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1.0).close()
        except OSError:
            return False
        return True


class SparkWorker(Server):
    """Starts executors for the applications of its master; they end with it."""

    def __init__(self, number: int, master: SparkMaster, *, cores: int, memory: str) -> None:
        port, self._page_port = find_free_ports(2)
        super().__init__(f"spark-worker-{number}", port, None)
        # Without a release's scripts, only these show how an executor is started.
        home = jars.pyspark_jars_dir().parent
        self.environment = {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": _find_scala(home)}
        self.work_directory = self.directory / "work"
        self._master, self._cores, self._memory = master, cores, memory

    def command(self) -> Sequence[str]:
        """The JVM's arguments."""
        place = ["--host", "127.0.0.1", "--port", str(self.port)]
        page = ["--webui-port", str(self._page_port)]
        size = ["--cores", str(self._cores), "--memory", self._memory]
        work = ["--work-dir", str(self.work_directory), self._master.url]
        main = "org.apache.spark.deploy.worker.Worker"
        return [*_make_options(), main, *place, *page, *size, *work]

    def is_ready(self) -> bool:
        """Whether the master knows it."""
        known = "Successfully registered with master"
        return self.log_file.exists() and known in self.log_file.read_text(errors="replace")


class SparkCluster(Startable):
    """`with SparkCluster(2) as cluster`: workers of one core each."""

    def __init__(self, workers: int, *, cores: int = 1, memory: str = "1g") -> None:
        self.master = SparkMaster()
        self.workers = [
            SparkWorker(number, self.master, cores=cores, memory=memory)
            for number in range(1, workers + 1)
        ]

    def start(self, timeout_s: float = 60.0) -> None:
        """Start the master, then its workers side by side."""
        self.master.start(timeout_s)
        for worker in self.workers:
            worker.launch()
        for worker in self.workers:
            wait_until(worker.is_ready, [worker], "register with its master", timeout_s)

    def close(self) -> None:
        """End all of it."""
        with ExitStack() as ending:
            for server in (self.master, *self.workers):
                ending.callback(server.close)


def _make_options() -> list[str]:
    return ["-Xmx256m", "-Dlog4j2.level=INFO", "-cp", f"{jars.pyspark_jars_dir()}/*"]


def _find_scala(home: Path) -> str:
    (core,) = home.glob("jars/spark-core_*.jar")
    return core.name.removeprefix("spark-core_").partition("-")[0]
