"""Waiting for what must come true, and for the moment in which nothing moves."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lab.stories.truth import now_ms
from zklake.errors import LabError

T = TypeVar("T")
_POLL_S = 0.05
# A state is recorded only when nothing of it moved for so long.
STILLNESS_S = 0.25
# A transaction bears the time it was prepared, a moment before anyone can read it.
_AFTERGLOW_S = 0.05


class Observed(NamedTuple):
    """One look at the cluster: the fields of a fact, and what shows that nothing moved since."""

    fields: dict[str, Any]
    marks: Any = None


class Still(NamedTuple):
    """A sight that held all through from_ms to to_ms."""

    fields: dict[str, Any]
    from_ms: int
    to_ms: int


class StoryTimeouts:
    """So many seconds for each thing that must come true; `logs` is where to look when it fails."""

    def __init__(self, timeout_s: float, logs: Path) -> None:
        self.timeout_s = timeout_s
        self._logs = logs

    def wait_for(self, ask: Callable[[], T | None], what: str) -> T:
        """Ask until there is a true answer."""
        deadline = time.monotonic() + self.timeout_s
        while not (answer := ask()):
            if time.monotonic() > deadline:
                raise self._fail(f"{what}: not seen")
            time.sleep(_POLL_S)
        return answer

    def wait_for_stillness(
        self, look: Callable[[], Observed | None], what: str, still_s: float = STILLNESS_S
    ) -> Still:
        """Look until two sights, `still_s` apart, are the same: it held in between."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            seen = self.wait_for(look, what)
            from_ms = now_ms()
            time.sleep(still_s)
            to_ms = now_ms()
            time.sleep(_AFTERGLOW_S)
            if look() == seen:
                return Still(seen.fields, from_ms, to_ms)
            if time.monotonic() > deadline:
                raise self._fail(f"{what}: seen, but never still")

    def _fail(self, what: str) -> LabError:
        return LabError(f"{what} within {self.timeout_s:g} s; the logs are in {self._logs}")
