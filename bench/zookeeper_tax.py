"""What a watcher costs the ZooKeeper it watches: one writer with it ÷ the same writer without.

Wall clock needs a core to spare, else watcher, broker and writer only share the same two; the
server's own CPU per write does not.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

from bench.figures import Figure, ratio
from bench.keep_up import ZNODES
from bench.processes import read_cpu_s
from bench.stage import Stage
from bench.writer import running_writer
from bench.znodes import list_tree


class Run(NamedTuple):
    """One stretch of writing."""

    rate: float
    server_us: float


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Write rate and ZooKeeper's CPU per write, with ÷ without, in pairs."""
    seconds, pairs = (3, 2) if quick else (8, 7)
    root = stage.make_root(list_tree(ZNODES))
    _write(stage, root, seconds, watched=False)  # the JVM compiles what it runs often
    with_it: list[Run] = []
    without: list[Run] = []
    for number in range(pairs):
        # A B, B A, A B: a drift of the machine falls on both.
        for watched in (True, False) if number % 2 else (False, True):
            run = _write(stage, root, seconds, watched=watched)
            (with_it if watched else without).append(run)
    return [
        ratio("write rate", [r.rate for r in with_it], [r.rate for r in without],
              "≥ 0.95 with a core to spare"),
        ratio("server CPU per write", [r.server_us for r in with_it],
              [r.server_us for r in without]),
        Figure("writes without", [r.rate for r in without], "/s"),
        Figure("writes with", [r.rate for r in with_it], "/s"),
        Figure("server CPU per write without", [r.server_us for r in without], "µs"),
        Figure("server CPU per write with", [r.server_us for r in with_it], "µs"),
    ]  # fmt: skip


def _write(stage: Stage, root: str, seconds: float, *, watched: bool) -> Run:
    with stage.watching(root) if watched else nullcontext():
        used_s = -read_cpu_s(stage.zookeeper_pid)
        with running_writer(root, seconds) as written:
            used_s += read_cpu_s(stage.zookeeper_pid)
    return Run(written.rate, 1e6 * used_s / written.writes)
