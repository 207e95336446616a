"""How much memory a dashboard must be given: its own, and that of the processes that read."""

from __future__ import annotations

from dashboard.turns import RUNNING

# The process itself, with the answers that it keeps; measured 175 MiB after every page of a story.
_DASHBOARD_BYTES = 512 << 20
# A process that reads before it has read anything; measured 70 MiB.
_CELL_BYTES = 128 << 20
# One of them holds the tables for all pages.
_READERS = 1


def estimate_memory(query_bytes: int) -> int:
    """Bytes that must be there when all turns are taken, and everybody uses all they may."""
    return _DASHBOARD_BYTES + (RUNNING + _READERS) * (_CELL_BYTES + query_bytes)
