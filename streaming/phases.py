"""Times the phases of a batch. Knows neither the phases' names nor who counts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnPhase = Callable[[str, float], None]


class Phases:
    """`with phases.time("broker_membership"): …`, from any thread; failed ones do not count."""

    def __init__(self, on_phase: OnPhase | None = None) -> None:
        self._on_phase = on_phase

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Tell how long the block took."""
        started = time.monotonic()
        yield
        if self._on_phase is not None:
            self._on_phase(name, time.monotonic() - started)
