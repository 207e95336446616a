from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.alerts.book import CLUSTER, Book
from zklake.cli.alerts import app, choose_rule
from zklake.errors import QueryError, SettingsError
from zklake.settings.alert_rules import GroupStatus
from zklake.settings.alerts import AlertsSettings

HOSTILE = "x\x1b[31m\nopen incidents: 0\u202e"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    book = Book(str(tmp_path / "lake"), datetime.now(UTC).replace(microsecond=0))
    minute = book.minute
    rows = [
        book.lag("STALLED", minute(-60), minute(-50)),
        book.lag("OK", minute(-50)),
        book.lag("STOPPED", minute(-30), group=HOSTILE),
    ]
    book.tell(book.now, offset_lag=rows)
    return book.path


def ask(*words: str) -> str:
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_rule_is_tried_on_the_past(lake: str) -> None:
    where = ["--lake", lake, "--cluster", CLUSTER]
    said = json.loads(ask("test", "group_status", "--since", "2h", "--json", *where))
    assert said["counts"] == {"incidents": 2, "open": 1, "subjects": 2, "longest_s": 600}
    assert [one["evidence"]["status"] for one in said["incidents"]] == ["STALLED", "STOPPED"]
    assert said["incidents"][0]["duration_s"] == 600
    assert said["incidents"][1]["subject"]["group_id"] == HOSTILE
    stricter = ["--set", "for_s=900", "--set", "groups=*", "--set", "level=STOPPED"]
    said = json.loads(ask("test", "group_status", "--since", "2h", "--json", *where, *stricter))
    assert said["counts"]["incidents"] == 1
    early = ["--since", "2h", "--until", "40m"]
    said = json.loads(ask("test", "group_status", "--json", *where, *early))
    assert said["counts"]["incidents"] == 1
    text = ask("test", "group_status", "--since", "2h", *where)
    assert len(text.splitlines()) == 3
    assert "\x1b" not in text


def test_what_is_open_is_listed(lake: str) -> None:
    where = ["--lake", lake, "--cluster", CLUSTER]
    said = json.loads(ask("list", "--json", *where))
    assert [one["subject"]["group_id"] for one in said["open"]] == [HOSTILE]
    assert said["deliveries"] == []
    text = ask("list", *where)
    assert text.startswith("open incidents: 1\n")
    assert text.count("open incidents: ") == 2  # its own line, and a name that stays within one
    assert "\x1b" not in text


def test_what_cannot_be_tried_is_said(lake: str, tmp_path: Path) -> None:
    where = ["--lake", lake, "--cluster", CLUSTER]
    with pytest.raises(SettingsError, match=r"no rule 'grp'; use one of: group_status, "):
        ask("test", "grp", *where)
    with pytest.raises(QueryError, match="--since must be before"):
        ask("test", "group_status", "--since", "1h", "--until", "2h", *where)
    with pytest.raises(QueryError, match="none of the tables that group_status reads"):
        ask("test", "group_status", "--lake", str(tmp_path / "nothing"))


def test_a_rule_of_the_settings_is_found_by_its_name() -> None:
    rules = [{"rule": "group_status", "name": "strict", "level": "WARN", "for_s": 5}]
    alerts = AlertsSettings.model_validate({"rules": rules})
    strict = choose_rule(alerts, "strict", ["for_s=7", "exclude_groups=a*,b"])
    assert isinstance(strict, GroupStatus)
    assert (strict.level, strict.for_s, strict.exclude_groups) == ("WARN", 7, ("a*", "b"))
    assert choose_rule(alerts, "group_status", []) == GroupStatus()
    with pytest.raises(SettingsError, match=r"(?s)--set does not fit.*level.*bogus"):
        choose_rule(alerts, "strict", ["level=BAD", "bogus=1"])
