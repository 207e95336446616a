from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab.kept_choices import choose_port, keep_brokers
from zklake.errors import LabError
from zklake.supervision.run_directory import RunDirectory


def test_ports_stay_until_fresh(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with RunDirectory(place) as first:
        ports = [choose_port(first, name) for name in ("zookeeper-1", "broker-0")]
    assert len(set(ports)) == 2
    with RunDirectory(place, fresh=True) as third:
        assert choose_port(third, "broker-0") not in ports


# In a process of its own: one process never gets the same port twice.
AGAIN = """
import sys
from pathlib import Path
from lab.kept_choices import choose_port
from zklake.supervision.run_directory import RunDirectory
with RunDirectory(Path(sys.argv[1])) as directory:
    print(choose_port(directory, "broker-0", 1234))
"""


def ask_again(place: Path) -> int:
    command = [sys.executable, "-c", AGAIN, str(place)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_port_is_kept_while_it_is_free(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run") as first:
        port = choose_port(first, "broker-0")
    assert ask_again(tmp_path / "run") == port
    with socket.create_server(("127.0.0.1", port)):
        other = ask_again(tmp_path / "run")
    assert other != port
    assert ask_again(tmp_path / "run") == other


def test_a_wish_counts_the_first_time_if_it_is_free(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run") as directory:
        wish = choose_port(directory, "a")
        assert choose_port(directory, "b", wish) != wish
    assert ask_again(tmp_path / "other") == 1234


@pytest.mark.parametrize("state", ["", "[]", '{"ports": {"broker-0": "x"}}', '{"ports": 7}'])
def test_damaged_ports_are_chosen_anew(tmp_path: Path, state: str) -> None:
    place = tmp_path / "run"
    with RunDirectory(place):
        (place / "state.json").write_text(state)
    with RunDirectory(place) as directory:
        assert choose_port(directory, "broker-0") > 0


def test_the_number_of_brokers_stays(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with RunDirectory(place) as directory:
        assert keep_brokers(directory, 2, 3) == 2
    with RunDirectory(place) as directory:
        assert keep_brokers(directory, None, 3) == 2
        with pytest.raises(LabError, match="has 2 brokers, not 4"):
            keep_brokers(directory, 4, 3)
    with RunDirectory(place, fresh=True) as directory:
        assert keep_brokers(directory, None, 3) == 3
