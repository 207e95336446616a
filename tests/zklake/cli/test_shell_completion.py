"""What Tab completes, through the shell's own way of asking."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from delta_tables.catalog import TABLES
from tests.delta_tables.small_lake import write_lake
from zklake.cli import shell_completion
from zklake.cli.main import app
from zklake.cli.shell_completion import complete_group, complete_rule, complete_table

# A slow machine gets its answer too; and the shell calls the script by its name.
PATIENT = """
import sys; sys.argv = ["zklake"]
from zklake.cli import main, shell_completion
shell_completion._PATIENCE_S = 600
main.main()
"""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_completion, "_PATIENCE_S", 600)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("lake"))
    groups = ("readers", "rea ders", "re\x1b[31m", "billing")
    members = [{"group_id": name, "valid_from_at": "2026-11-16T03:00:00Z"} for name in groups]
    gone = {
        "group_id": "retired",
        "valid_from_at": "2026-11-16T03:00:00Z",
        "valid_to_at": "2026-11-16T04:00:00Z",
        "ended_by": "deleted",
    }
    rows = {"consumer_membership": [*members, gone], "topics": [{"topic": "orders"}]}
    write_lake(path, "kafka", rows)
    return path


def context(**given: str | None) -> typer.Context:
    command = typer.main.get_command(app)
    found = typer.Context(command)
    found.params.update(given)
    return found


def press_tab(lake: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "_ZKLAKE_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("zklake", *words)),
        "COMP_CWORD": str(len(words)),
        "ZKLAKE_LAKE": lake,
        "ZKLAKE_CLUSTER": "kafka",
    }
    command = [sys.executable, "-c", PATIENT, "zklake"]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_groups_there_are_now_that_are_one_word(lake: str) -> None:
    assert complete_group(context(lake=lake), "re") == ["readers"]
    assert complete_group(context(lake=lake), "") == ["billing", "readers"]


def test_a_shell_gets_them_by_line(lake: str) -> None:
    for words, wanted in (
        (("at", "now", "partition_s"), "partition_state"),
        (("describe", "group_lag_n"), "group_lag_now"),
        (("alerts", "test", "group_s"), "group_status"),
    ):
        done = press_tab(lake, *words)
        assert done.stdout.split() == [wanted]
        assert done.stderr == ""


def test_whatever_fails_nothing_is_said(lake: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("nothing = 1\n")
    for given in ({"lake": "/nowhere"}, {"config": str(wrong)}, {"lake": "s3://far/away"}):
        assert complete_group(context(**given), "") == []
    done = press_tab("/nowhere", "why", "re")
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_who_waits_too_long_gets_nothing(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_completion, "_PATIENCE_S", 1e-6)
    assert complete_group(context(lake=lake), "") == []


def test_tables_and_rules() -> None:
    assert complete_table(context(), "partition_") == ["partition_health", "partition_state"]
    assert set(complete_table(context(), "")) > {table.name for table in TABLES}
    assert "group_status" in complete_rule(context(), "")
