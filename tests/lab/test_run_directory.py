from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab.run_directory import RunDirectory
from zklake.errors import LabError


def test_a_live_run_keeps_others_away_and_is_named(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with (
        RunDirectory(place),
        pytest.raises(LabError, match=rf"`zklake run` \(process {os.getpid()}\) uses"),
        RunDirectory(place, fresh=True),
    ):
        pass
    with RunDirectory(place):
        pass


def test_a_run_that_was_killed_keeps_nobody_away(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from lab.run_directory import RunDirectory\n"
        "RunDirectory(Path(sys.argv[1])).start(); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False)
    assert killed.returncode == -9
    with RunDirectory(tmp_path / "run"):
        pass


def test_ports_and_data_stay_until_fresh(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with RunDirectory(place) as first:
        ports = [first.choose_port(name) for name in ("zookeeper-1", "broker-0")]
        (place / "lake").mkdir()
    assert len(set(ports)) == 2
    with RunDirectory(place, fresh=True) as third:
        assert not (place / "lake").exists()
        assert third.choose_port("broker-0") not in ports


# In a process of its own: one process never gets the same port twice.
AGAIN = """
import sys
from pathlib import Path
from lab.run_directory import RunDirectory
with RunDirectory(Path(sys.argv[1])) as directory:
    print(directory.choose_port("broker-0", 1234))
"""


def ask_again(place: Path) -> int:
    command = [sys.executable, "-c", AGAIN, str(place)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_port_is_kept_while_it_is_free(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run") as first:
        port = first.choose_port("broker-0")
    assert ask_again(tmp_path / "run") == port
    with socket.create_server(("127.0.0.1", port)):
        other = ask_again(tmp_path / "run")
    assert other != port
    assert ask_again(tmp_path / "run") == other


def test_a_wish_counts_the_first_time_if_it_is_free(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run") as directory:
        wish = directory.choose_port("a")
        assert directory.choose_port("b", wish) != wish
    assert ask_again(tmp_path / "other") == 1234


@pytest.mark.parametrize("state", ["", "[]", '{"ports": {"broker-0": "x"}}', '{"ports": 7}'])
def test_a_damaged_state_is_made_anew(tmp_path: Path, state: str) -> None:
    place = tmp_path / "run"
    with RunDirectory(place):
        (place / "state.json").write_text(state)
    with RunDirectory(place) as directory:
        assert directory.choose_port("broker-0") > 0


def test_the_number_of_brokers_stays(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with RunDirectory(place) as directory:
        assert directory.keep_brokers(2, 3) == 2
    with RunDirectory(place) as directory:
        assert directory.keep_brokers(None, 3) == 2
        with pytest.raises(LabError, match="has 2 brokers, not 4"):
            directory.keep_brokers(4, 3)
    with RunDirectory(place, fresh=True) as directory:
        assert directory.keep_brokers(None, 3) == 3


def test_somebody_elses_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(LabError, match="is not a directory of"), RunDirectory(tmp_path, fresh=True):
        pass
    assert (tmp_path / "thesis.txt").exists()


def test_logs_of_the_run_before_are_kept_once(tmp_path: Path) -> None:
    for number in range(3):
        with RunDirectory(tmp_path / "run") as directory:
            (directory.logs / "watch.log").write_text(str(number))
    assert (tmp_path / "run" / "logs" / "watch.log").read_text() == "2"
    assert (tmp_path / "run" / "logs.previous" / "watch.log").read_text() == "1"
