"""Memory that batches leave behind in the driver, given back: it lives for months."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Each object of Spark's that Python has used is a cycle, and stays in the JVM with its whole plan
# until Python collects its oldest generation; left to itself, that is hundreds of batches later.
_BATCHES_HELD = 50
# A batch that took less leaves little, and giving it back would take longer than folding it.
_SECONDS_WORTH_IT = 0.5
# Threads that write tables free memory into arenas of their own, which keep it: a driver that
# folded 100,000 commits a round grew by 45 MB a round. Only glibc has both, arenas and the remedy.
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


class MemoryTrimmer:
    """Counts batches, and gives back what they leave."""

    def __init__(self) -> None:
        self._batches = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Around every batch: while it is folded nothing is collected."""
        began = time.monotonic()
        with pause_collector():
            yield
        self._batches += 1
        if time.monotonic() - began >= _SECONDS_WORTH_IT:
            release_memory()
        if self._batches % _BATCHES_HELD == 0:
            gc.collect()


@contextmanager
def pause_collector() -> Iterator[None]:
    """While records are folded: they make a million objects and hardly a cycle, and looking for
    some takes a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def release_memory() -> None:
    """Collect what is young, and give back what was freed; it takes some milliseconds."""
    gc.collect(1)
    if _trim is not None:
        _trim(0)
