"""systemd itself accepts the units, with what all of them have in common."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.commands import UNITS
from zklake.errors import JarError, JavaError, OtherLog, SettingsError, TopicRefused

NAMES = sorted(path.name for path in UNITS.glob("*.service"))
ANALYZE = shutil.which("systemd-analyze")
COMMON = (UNITS / "zklake-.service.d" / "common.conf").read_text()
needs_systemd = pytest.mark.skipif(
    ANALYZE is None, reason="NOT CHECKED: systemd-analyze is not installed; the units may be wrong"
)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with a program that is there."""
    copied = tmp_path / "units"
    shutil.copytree(UNITS, copied)
    program = shutil.which("true")
    for path in copied.glob("*.service"):
        path.write_text(path.read_text().replace("/opt/zklake/bin/zklake", str(program)))
    return copied


def analyze(*options: str) -> subprocess.CompletedProcess[str]:
    assert ANALYZE is not None
    return subprocess.run([ANALYZE, *options], capture_output=True, text=True, check=False)


def test_there_is_a_unit_for_each_part() -> None:
    parts = ("alerts", "audit", "dashboard", "stream", "watch")
    assert [f"zklake-{part}.service" for part in parts] == NAMES


@needs_systemd
@pytest.mark.parametrize("name", NAMES)
def test_systemd_accepts_it(units: Path, name: str) -> None:
    done = analyze("verify", "--man=no", str(units / name))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
def test_a_wrong_line_in_the_common_part_is_found_out(units: Path) -> None:
    common = units / "zklake-.service.d" / "common.conf"
    common.write_text(COMMON.replace("ProtectHome=", "ProtectHomes="))
    assert "ProtectHomes" in analyze("verify", "--man=no", str(units / NAMES[0])).stderr


@needs_systemd
@pytest.mark.parametrize("name", NAMES)
def test_it_may_do_little(units: Path, name: str) -> None:
    done = analyze("security", "--offline=yes", "--no-pager", str(units / name))
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert exposure, done.stdout + done.stderr
    assert float(exposure[1]) < 2.5


def test_errors_that_no_restart_mends_end_it() -> None:
    hopeless = {
        one.exit_code for one in (SettingsError, JavaError, JarError, TopicRefused, OtherLog)
    }
    listed = re.search(r"^RestartPreventExitStatus=(.*)$", COMMON, re.MULTILINE)
    assert listed
    assert {int(code) for code in listed[1].split()} == hopeless
