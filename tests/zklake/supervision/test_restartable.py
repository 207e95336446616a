from __future__ import annotations

import signal
from pathlib import Path

import pytest

from zklake.errors import RunError
from zklake.supervision.restartable import RestartableProcess


class Sleeper(RestartableProcess):
    """A program that does nothing."""

    def launch(self) -> None:
        self._run(["sleep", "600"])


def test_runs_follow_each_other_in_one_place(tmp_path: Path) -> None:
    sleeper = Sleeper("the sleeper", tmp_path / "log")
    assert (sleeper.is_alive(), sleeper.exit_code) == (False, None)
    with pytest.raises(RunError, match="the sleeper was never started"):
        sleeper.kill()
    sleeper.launch()
    first = sleeper.pid
    try:
        with pytest.raises(RunError, match=rf"the sleeper already runs \(pid {first}\)"):
            sleeper.launch()
        sleeper.pause()
        assert (sleeper.is_alive(), sleeper.is_awake()) == (True, False)
    finally:
        sleeper.stop()
    assert sleeper.exit_code == -signal.SIGTERM
    sleeper.launch()
    try:
        assert sleeper.is_awake()
        assert sleeper.pid != first
    finally:
        sleeper.kill()
    assert sleeper.exit_code == -signal.SIGKILL
