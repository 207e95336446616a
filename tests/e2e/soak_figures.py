"""What is looked at during a soak: memory, files, times and what the auditor says."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from bench.processes import list_children, read_rss_bytes, read_tree_cpu_s
from zklake.supervision.child_process import ChildProcess

_MIB = 2**20


class Use(msgspec.Struct):
    """Of one part, with the processes that it has started."""

    rss_mib: float
    fds: int
    threads: int
    # Seconds of CPU since it was started.
    cpu_s: float


class Figures(msgspec.Struct):
    """One look."""

    minute: float
    faults: list[str]
    written: int
    parts: dict[str, Use]
    lake_files: int
    lake_mib: float
    batch_s: float | None
    page_s: float | None
    audit_rounds: int
    audit_failures: int
    unexplained: int
    phantom: int
    # Until a znode that was created then stood in the lake.
    recovery_s: float


COLUMNS = (
    "minute | faults | written | watch MiB | stream MiB | dashboard MiB | audit MiB | fds | threads"
    " | files | lake MiB | batch s | page s | recovery s | audit rounds | unexplained | phantom"
)


def format_row(one: Figures) -> str:
    """A line of a table in Markdown, under COLUMNS."""
    parts = one.parts
    cells = [
        f"{one.minute:.0f}",
        " + ".join(one.faults) or "none",
        f"{one.written:,}",
        *(
            f"{parts[name].rss_mib:,.0f}" if name in parts else "-"
            for name in ("watch", "stream", "dashboard", "audit")
        ),
        str(sum(part.fds for part in parts.values())),
        str(sum(part.threads for part in parts.values())),
        f"{one.lake_files:,}",
        f"{one.lake_mib:,.1f}",
        _format_seconds(one.batch_s),
        _format_seconds(one.page_s),
        _format_seconds(one.recovery_s),
        str(one.audit_rounds),
        str(one.unexplained),
        str(one.phantom),
    ]
    return f"| {' | '.join(cells)} |"


def measure_use(process: ChildProcess) -> Use | None:
    """None: it has ended."""
    rss, fds, threads = 0, 0, 0
    for pid in _list_tree(process.pid):
        with suppress(OSError):
            rss += read_rss_bytes(pid)
            fds += _count(Path(f"/proc/{pid}/fd"))
            threads += _count(Path(f"/proc/{pid}/task"))
    return Use(rss / _MIB, fds, threads, read_tree_cpu_s(process.pid)) if threads else None


def measure_lake(lake: Path) -> tuple[int, float]:
    """All its files, be they in the newest version or not, and their MiB."""
    files, size = 0, 0
    for path in lake.rglob("*"):
        with suppress(OSError):  # it has just been removed
            if path.is_file():
                files, size = files + 1, size + path.stat().st_size
    return files, size / _MIB


def measure_pages(address: str, pages: Sequence[str]) -> float | None:
    """The median of their times; None: one was not answered."""
    seconds = []
    for page in pages:
        began = time.monotonic()
        try:
            with urllib.request.urlopen(f"http://{address}{page}", timeout=30) as answer:
                answer.read()
        except OSError:
            return None
        seconds.append(time.monotonic() - began)
    return median(seconds)


def read_metrics(address: str) -> Mapping[str, float]:
    """By name, summed over their labels; nothing while it does not answer."""
    found: dict[str, float] = {}
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
            text = answer.read().decode()
    except OSError:
        return found
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def _list_tree(pid: int) -> list[int]:
    return [pid, *(each for child in list_children(pid) for each in _list_tree(child))]


def _count(directory: Path) -> int:
    return sum(1 for _ in directory.iterdir())


def _format_seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"
