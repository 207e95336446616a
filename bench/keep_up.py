"""Does the watcher keep up with one kazoo process that writes as fast as it can?

The control is the writer of the same run: events published ÷ writes done.
"""

from __future__ import annotations

import time
from collections import Counter

from bench.figures import Figure
from bench.processes import read_cpu_s
from bench.stage import Stage
from bench.tail import Tail
from bench.writer import OWNERS, STATES, Written, running_writer
from bench.znodes import list_tree
from zklake.errors import LabError
from zklake.events.envelope import Event

# Topic, partitions and ten partitions of two znodes each: as many znodes as hold STATES states.
ZNODES = 2 + STATES // 10 * 22
_PATIENCE_S = 300


class Count:
    """Events of the writer's znodes, by fidelity."""

    def __init__(self) -> None:
        self.while_writing = 0
        self.by_fidelity: Counter[str] = Counter()

    def add(self, event: Event, is_early: bool) -> None:
        """One event of the log; those of nobody's writes are passed over."""
        path = event.path or ""
        if event.origin == "watch" and path.startswith(("/brokers/topics/", OWNERS + "/")):
            self.by_fidelity[event.fidelity] += 1
            self.while_writing += is_early


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Published ÷ written, how much of it while writing, and how long the rest took."""
    seconds, rounds = (5, 2) if quick else (20, 3)
    root = stage.make_root(list_tree(ZNODES))
    measured = [_measure_once(stage, root, seconds) for _ in range(rounds)]
    return [
        Figure("published ÷ written, in the end", [t["published"] for t in measured], "×", "1.0"),
        Figure("published ÷ written, when the writer ends", [t["early"] for t in measured], "×"),
        Figure("until the rest is published", [t["rest_s"] for t in measured], "s"),
        Figure("with its own value (not superseded)", [t["exact"] for t in measured], "×"),
        Figure("writes", [t["rate"] for t in measured], "/s"),
        Figure("watcher CPU per event, all of it", [t["cpu_us"] for t in measured], "µs"),
        Figure("watcher's share of one core", [t["share"] for t in measured], "×"),
    ]


def _measure_once(stage: Stage, root: str, seconds: float) -> dict[str, float]:
    with stage.watching(root) as (watcher, tail):
        start = tail.find_end()
        used_s = -read_cpu_s(watcher.pid)
        with running_writer(root, seconds) as written:
            ended, end = time.monotonic(), tail.find_end()
            # Looking back a little: by now the mark may be there, too.
            _wait_for(tail, written, max(start, end - 1_000))
            rest_s = time.monotonic() - ended
        used_s += read_cpu_s(watcher.pid)
        count = _count(tail, written, start, end)
    published = count.by_fidelity.total()
    return {
        "published": published / written.writes,
        "early": count.while_writing / written.writes,
        "rest_s": rest_s,
        "exact": 1 - count.by_fidelity["superseded"] / published,
        "rate": written.rate,
        "cpu_us": 1e6 * used_s / published,
        "share": used_s / (written.seconds + rest_s),
    }


def _wait_for(tail: Tail, written: Written, offset: int) -> None:
    # Nobody reads while the writer writes: counting would cost more CPU than publishing.
    tail.seek(offset)
    if tail.wait(lambda event: event.path == written.mark, _PATIENCE_S) is None:
        raise LabError(f"{written.mark} was not published within {_PATIENCE_S} s")


def _count(tail: Tail, written: Written, start: int, end: int) -> Count:
    count = Count()
    tail.seek(start)
    for offset, event in tail.read(_PATIENCE_S):
        if event.path == written.mark:
            break
        count.add(event, is_early=offset < end)
    return count
