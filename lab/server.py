"""What every server of the lab can do: start, answer, be killed, paused and restarted in its place.

Knows processes and directories, neither ZooKeeper nor Kafka.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from zklake.errors import LabError
from zklake.java import require_java
from zklake.supervision.restartable import RestartableProcess
from zklake.supervision.startable import Startable

# C1 only and the serial collector: a small server on a busy machine starts in half the time.
_JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true")
_POLL_S = 0.05


class WorkDirectory:
    """A directory: the caller's own, which is kept, or a temporary one, which goes with us."""

    def __init__(self, directory: Path | None) -> None:
        """Make the directory when it is missing."""
        self.is_temporary = directory is None
        self.path = directory or Path(tempfile.mkdtemp(prefix="zklake-lab-"))
        self.path.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        """Remove the directory if it is ours."""
        if self.is_temporary:
            shutil.rmtree(self.path, ignore_errors=True)


class Server(RestartableProcess, Startable):
    """One JVM on one directory and one port; the same ones again after a restart."""

    # Beside what this process has.
    environment: Mapping[str, str] = {}

    def __init__(self, name: str, port: int, directory: Path | None) -> None:
        """Nothing starts yet."""
        self.name = name
        self.port = port
        self.address = f"127.0.0.1:{port}"
        self._place = WorkDirectory(directory)
        self.directory = self._place.path
        super().__init__(f"{name} on {self.address}", self.directory / "server.log")
        self._has_answered = False

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Write the configuration; return the JVM's arguments, main class included."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether the server truly answers."""

    def find_obstacle(self) -> str | None:
        """What speaks against it; once it has answered since its launch, it is not asked again."""
        self._has_answered = self._has_answered or self.is_ready()
        return None if self._has_answered else "does not answer yet"

    def launch(self) -> None:
        """Start the JVM and do not wait for it."""
        self._check_idle()
        self._has_answered = False
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        java = ["env", *variables, find_java()] if variables else [find_java()]
        self._run([*java, *_JVM_OPTIONS, *self.command()])

    def start(self, timeout_s: float = 60.0) -> None:
        """Start the JVM and wait until it answers."""
        self.launch()
        wait_until(self.is_ready, [self], "answer", timeout_s)

    def restart(self, timeout_s: float = 60.0) -> None:
        """Stop if it runs, then start on the same data and port."""
        if self.is_alive():
            self.stop()
        self.start(timeout_s)

    def close(self) -> None:
        """End the server for good: at once when its data goes too, else in order."""
        if self.is_alive():
            self.kill() if self._place.is_temporary else self.stop()
        self._place.clear()

    def describe_end(self) -> str:
        """Name, state and the last lines of the log, for an error message."""
        if self._process is None:
            return f"{self._title} was never started"
        code = self._process.exit_code
        state = "runs" if code is None else f"ended with code {code}"
        head = f"{self._title} {state}; the end of its log:"
        return f"{head}\n{self._process.tail()}"


@functools.cache
def find_java() -> str:
    """The java that every server runs on."""
    # Asking a launcher for its version costs a JVM start.
    return str(require_java().path)


def wait_until(
    is_true: Callable[[], bool], servers: Sequence[Server], what: str, timeout_s: float
) -> None:
    """Wait for the condition; a dead server or the timeout is a LabError with the logs' ends."""
    deadline = time.monotonic() + timeout_s
    while not is_true():
        dead = [server for server in servers if not server.is_alive()]
        if dead or time.monotonic() > deadline:
            raise LabError(_explain(dead or servers, bool(dead), what, timeout_s))
        time.sleep(_POLL_S)


def _explain(servers: Sequence[Server], died: bool, what: str, timeout_s: float) -> str:
    names = ", ".join(server.name for server in servers)
    first = f"{names} died" if died else f"{names} did not {what} within {timeout_s:g} s"
    return "\n".join([first, *(server.describe_end() for server in servers)])
