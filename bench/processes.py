"""What a process has used so far, from /proc (Linux)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def read_cpu_s(pid: int) -> float:
    """Seconds of CPU of all its threads, in user and system mode."""
    return sum(_read_times(pid)[:2])


def read_tree_cpu_s(pid: int) -> float:
    """The same with all processes that it has started, be they still there or not."""
    used = 0.0
    with suppress(OSError):  # it has just ended: its parent counts it
        used = sum(_read_times(pid))
    return used + sum(map(read_tree_cpu_s, list_children(pid)))


def _read_times(pid: int) -> list[float]:
    """Seconds of CPU in user and in system mode, then the same of its children that have ended."""
    # The name, in brackets, may hold blanks; utime is field 14.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return [int(field) / _TICKS for field in fields[11:15]]


def read_rss_bytes(pid: int) -> int:
    """Its memory that is resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def list_children(pid: int) -> list[int]:
    """The processes that it has started, and that still are."""
    found: list[int] = []
    with suppress(OSError):  # it has just ended
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):  # so has this thread
                found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found
