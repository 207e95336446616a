"""What a process has used so far, from /proc (Linux)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def read_cpu_s(pid: int) -> float:
    """Seconds of CPU of all its threads, in user and system mode."""
    # The name, in brackets, may hold blanks; utime and stime are fields 14 and 15.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def read_rss_bytes(pid: int) -> int:
    """Its memory that is resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def list_children(pid: int) -> list[int]:
    """The processes that it has started, and that still are."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has just ended
            found += map(int, task.read_text().split())
    return found
