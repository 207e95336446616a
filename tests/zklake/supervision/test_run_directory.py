from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zklake.errors import RunError
from zklake.supervision.run_directory import RunDirectory


def test_a_live_run_keeps_others_away_and_is_named(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with (
        RunDirectory(place),
        pytest.raises(RunError, match=rf"`zklake run` \(process {os.getpid()}\) uses"),
        RunDirectory(place, fresh=True),
    ):
        pass
    with RunDirectory(place):
        pass


def test_a_run_that_was_killed_keeps_nobody_away(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from zklake.supervision.run_directory import RunDirectory\n"
        "RunDirectory(Path(sys.argv[1])).start(); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False)
    assert killed.returncode == -9
    with RunDirectory(tmp_path / "run"):
        pass


def test_data_and_what_was_remembered_stay_until_fresh(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with RunDirectory(place) as first:
        first.remember("brokers", 2)
        (place / "lake").mkdir()
    with RunDirectory(place) as second:
        assert second.recall("brokers") == 2
        assert (place / "lake").exists()
    with RunDirectory(place, fresh=True) as third:
        assert third.recall("brokers") is None
        assert not (place / "lake").exists()


@pytest.mark.parametrize("state", ["", "[]", "{"])
def test_a_damaged_state_is_made_anew(tmp_path: Path, state: str) -> None:
    place = tmp_path / "run"
    with RunDirectory(place):
        (place / "state.json").write_text(state)
    with RunDirectory(place) as directory:
        assert directory.recall("brokers") is None


def test_somebody_elses_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(RunError, match="is not a directory of"), RunDirectory(tmp_path, fresh=True):
        pass
    assert (tmp_path / "thesis.txt").exists()


def test_logs_of_the_run_before_are_kept_once(tmp_path: Path) -> None:
    for number in range(3):
        with RunDirectory(tmp_path / "run") as directory:
            (directory.logs / "watch.log").write_text(str(number))
    assert (tmp_path / "run" / "logs" / "watch.log").read_text() == "2"
    assert (tmp_path / "run" / "logs.previous" / "watch.log").read_text() == "1"
