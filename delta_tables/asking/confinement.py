"""What a process that answers questions gives up, for good: files, cores, memory beyond a bound."""

from __future__ import annotations

import resource
from pathlib import Path


def confine(memory_bytes: int) -> None:
    """Give up what a question does not need: so many bytes beyond what is used already stay."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = _measure_address_space()
    if used:
        bound = used + memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def _measure_address_space() -> int:
    """Bytes mapped by now; 0 where that is not known, and then only DataFusion's bound holds."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
