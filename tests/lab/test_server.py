from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.server import Server, WorkDirectory, wait_until
from zklake.errors import LabError, RunError


def test_a_temporary_place_goes_and_a_given_one_stays(tmp_path: Path) -> None:
    own, given = WorkDirectory(None), WorkDirectory(tmp_path / "lab")
    assert own.path.is_dir()
    own.clear()
    given.clear()
    assert not own.path.exists()
    assert given.path.is_dir()


class BrokenServer(Server):
    """A JVM that cannot start: its own message must reach the reader of the error."""

    def command(self) -> Sequence[str]:
        return ["-XX:NoSuchOption"]

    def is_ready(self) -> bool:
        return False


@pytest.mark.integration
def test_an_early_end_shows_the_log(tmp_path: Path) -> None:
    server = BrokenServer("broken-1", 1, tmp_path)
    with pytest.raises(LabError, match="broken-1 died") as caught, server:
        pass
    assert "Unrecognized VM option" in str(caught.value)
    assert "NoSuchOption" in server.log_file.read_text()


def test_a_timeout_names_the_server_and_what_it_did_not_do(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"did not answer within 0 s"):
        wait_until(lambda: False, [], "answer", 0)
    with pytest.raises(RunError, match="never started"):
        BrokenServer("broken-1", 1, tmp_path).kill()
