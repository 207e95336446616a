"""What to do when a process of a run has ended: start it again, or end the run. No clock here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class RestartPolicy:
    """So many restarts within a window; and the exit codes that no restart mends."""

    most: int = 5
    window_s: float = 600.0
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    final_codes: frozenset[int] = frozenset()


class Restart(NamedTuple):
    """Start it again after so long; it is the nth time within the window."""

    wait_s: float
    nth: int


class End(NamedTuple):
    """The run is over."""

    why: str


def judge(policy: RestartPolicy, deaths: Sequence[float], exit_code: int | None) -> Restart | End:
    """What to do after the last of these deaths (in seconds of any one clock)."""
    if exit_code in policy.final_codes:
        return End("a restart would not mend that")
    recent = sum(1 for at in deaths if deaths[-1] - at < policy.window_s)
    if recent > policy.most:
        return End(f"that was the end number {recent} within {policy.window_s / 60:.0f} minutes")
    return Restart(min(policy.first_wait_s * 2.0 ** (recent - 1), policy.longest_wait_s), recent)


def explain_code(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "not started"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
