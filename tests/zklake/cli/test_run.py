from __future__ import annotations

from pathlib import Path

import pytest

from zklake.cli.run import _lock
from zklake.errors import LabError


def test_a_second_run_does_not_empty_the_directory_of_the_first(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with _lock(place), pytest.raises(LabError, match="another `zklake run` uses"):
        _lock(place)
    _lock(place).close()
