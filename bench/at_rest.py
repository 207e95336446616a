"""What the stream costs while nothing happens: `zklake run --calm`, watched from outside."""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress
from pathlib import Path

from bench.figures import Figure
from bench.processes import list_children, read_cpu_s, read_rss_bytes
from bench.stage import Stage
from zklake.errors import LabError
from zklake.supervision.child_process import ChildProcess

_PATIENCE_S = 420.0
# What starting costs is over by then.
_SETTLE_S = 60.0
_LOOK_S = 10.0


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Cores and memory of `zklake stream` and its JVM."""
    place, seconds = stage.directory / "calm", 60 if quick else 600
    command = [sys.executable, "-m", "zklake", "run", "--dir", str(place), "--calm"]
    run = ChildProcess(command, stage.directory / "calm.log")
    try:
        _await_words(run, "everything is running")
        time.sleep(_SETTLE_S)
        return _watch(_find_stream(run.pid), seconds)
    finally:
        run.stop(60)


def _watch(pids: list[int], seconds: int) -> list[Figure]:
    began, before = time.monotonic(), [read_cpu_s(pid) for pid in pids]
    memory, threads = [], 0
    while time.monotonic() - began < seconds:
        time.sleep(_LOOK_S)
        memory.append(sum(map(read_rss_bytes, pids)) / 2**30)
        threads = sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in pids)
    passed = time.monotonic() - began
    python, jvm = ((read_cpu_s(pid) - b) / passed for pid, b in zip(pids, before, strict=True))
    return [
        Figure("the stream at rest", [python + jvm], "cores", "≤ 0.10"),
        Figure("of it Python", [python], "cores"),
        Figure("of it the JVM", [jvm], "cores"),
        Figure("memory of both", memory, "GiB", "≤ 1.0"),
        Figure("threads of both", [threads], ""),
    ]


def _await_words(run: ChildProcess, words: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not re.search(words, said := run.tail(10_000)):
        if not run.is_alive() or time.monotonic() > deadline:
            raise LabError(f"`zklake run` did not say {words!r}:\n{said}")
        time.sleep(0.5)


def _find_stream(pid: int) -> list[int]:
    """`zklake stream` among the children of a run, and its JVM."""
    for child in list_children(pid):
        with suppress(OSError):
            command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            if b"stream" in command and b"zklake" in command:
                return [child, next(filter(_is_java, list_children(child)))]
    raise LabError("no `zklake stream` among the processes of the run")


def _is_java(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text().strip() == "java"
