from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from deltalake import DeltaTable
from typer.testing import CliRunner, Result

from delta_tables import reading
from delta_tables.asking.lakes import Lake
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import open_named
from tests.delta_tables.small_lake import write_rows
from tests.delta_tables.view_lake import Row, state
from tests.incidents.folded import CLUSTER, fold_lake
from tests.incidents.incidents import BAD_S
from tests.incidents.simulation import BIRTH_MS, Simulation
from zklake.cli.why import why
from zklake.errors import QueryError

app = typer.Typer()
app.command()(why)

# A member whose name is a threat.
HOSTILE = "b\u202ex"
SECONDS = BAD_S + 300
ACTS = [
    (BAD_S, lambda s: s.readers.kill(HOSTILE)),
    (BAD_S + 200, lambda s: s.produce(60)),
    (BAD_S + 210, lambda s: s.produce(10)),
]


def at(second: int) -> str:
    """A moment of the log."""
    moment = datetime.fromtimestamp(BIRTH_MS / 1000, UTC) + timedelta(seconds=second)
    return moment.isoformat().replace("+00:00", "Z")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A group whose member is killed, one without trouble, and one that is gone."""
    path: Path = tmp_path_factory.mktemp("lake")
    lake = fold_lake(path, Simulation(names=("a", HOSTILE)).run(SECONDS, ACTS))
    calm: Row = {"coordinator": "kafka", "group_id": "calm", "topic": "t", "partition": 0}
    gone = state(0, 1, "deleted", **calm | {"group_id": "gone"}, committed_offset=5)
    rows = [state(0, **calm, committed_offset=5), gone]
    write_rows(lake, CLUSTER, TABLE_BY_NAME["consumer_offsets"], rows)
    return lake


def ask(lake: str, *args: str) -> Result:
    scope = ["--lake", lake, "--cluster", CLUSTER]
    if "--least" not in args:
        # Beyond the few records that are on their way when the log begins.
        scope += ["--least", "400"]
    result = CliRunner().invoke(app, [*args, *scope], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_the_cause_comes_with_its_records_and_the_rows_behind_it(lake: str) -> None:
    result = ask(lake, "readers", "--at", at(BAD_S + 120))
    first, cause, *others = result.stdout.splitlines()
    assert first.startswith("The lag of group readers (zookeeper, c) rose by ")
    assert f"between {at(BAD_S)}" in first
    assert "member readers_b\\u202ex had crashed and read nothing of orders-2, orders-3" in cause
    assert "[consumption_pauses " in cause
    head, row = others[others.index("consumption_pauses:") + 1 :][:2]
    assert head.split()[:5] == ["cause", "group_id", "topic", "partition", "held"]
    assert row.split()[:5] == ["1", "readers", "orders", "2", "owner_crashed"]
    assert "incarnation" not in head
    assert result.stderr == ""
    every = ask(lake, "readers", "--at", at(BAD_S + 120), "--all").stdout
    assert "incarnation" in every
    assert "fold_state" not in every


def test_every_rise_is_listed_and_can_be_chosen(lake: str) -> None:
    said = ask(lake, "readers", "--at", at(SECONDS)).stdout
    assert "Other rises between" in said
    chosen = ask(lake, "readers", "--at", at(SECONDS), "--rise", "2").stdout.splitlines()
    other = ask(lake, "readers", "--at", at(SECONDS), "--rise", "1").stdout.splitlines()
    assert chosen[0] != other[0]
    assert "producers wrote to topic orders faster" in chosen[1]
    assert "had crashed" in other[1]
    with pytest.raises(QueryError, match="there is no rise 9: there are 2"):
        ask(lake, "readers", "--at", at(SECONDS), "--rise", "9")
    none = ask(lake, "readers", "--at", at(SECONDS), "--least", "1000000").stdout
    assert "did not rise notably" in none


def test_as_json_with_rows(lake: str) -> None:
    (said,) = json.loads(ask(lake, "readers", "--at", at(BAD_S + 120), "--json").stdout)
    assert (said["cluster"], said["group_id"], said["chosen"]) == ("c", "readers", 1)
    (rise,) = said["rises"]
    assert sum(cause["records"] for cause in rise["causes"]) == rise["added"]
    cause = rise["causes"][0]
    assert (cause["cause"], cause["entity"]) == ("owner_crashed", f"member readers_{HOSTILE}")
    assert cause["says"].startswith(f"member readers_{HOSTILE} had crashed")
    (row,) = cause["rows"][:1]
    assert row["owner_member_id"] == f"readers_{HOSTILE}"


def test_what_is_not_certain_is_said(lake: str) -> None:
    late = ask(lake, "readers", "--at", at(SECONDS + 600))
    assert "past the watermark" in late.stderr
    assert "rose by" in late.stdout


def test_no_rise_is_an_answer(lake: str) -> None:
    said = ask(lake, "readers", "--at", at(BAD_S - 60), "--least", "1000").stdout
    assert f"did not rise notably between {at(BAD_S - 3660)} and {at(BAD_S - 60)}" in said
    said = ask(lake, "calm").stdout
    assert "group calm (kafka, c) did not rise" in said
    assert "Its lag is not followed" in said


def test_commits_are_read_only_within_limits(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be billions of them: nothing here may open the table."""
    opened: set[str] = set()

    def record(lakes: Iterable[Lake], names: Collection[str]) -> dict[str, list[DeltaTable]]:
        opened.update(names)
        return open_named(lakes, names)

    monkeypatch.setattr(reading, "open_named", record)
    ask(lake, "readers", "--at", at(SECONDS))
    with pytest.raises(QueryError, match="no group"):
        ask(lake, "nobody")
    assert "group_lag_now" in opened
    assert "consumer_offsets" not in opened


def test_an_unknown_group_is_refused(lake: str) -> None:
    with pytest.raises(QueryError, match="no group 'calmm' in c; did you mean calm"):
        ask(lake, "calmm")
    with pytest.raises(QueryError, match='no group "it\'s"'):
        ask(lake, "it's")
    # A group that is no more may be asked about by its name, but is not proposed.
    assert "group gone (kafka, c) did not rise" in ask(lake, "gone").stdout
    with pytest.raises(QueryError, match="no group 'gonne' in c; 2 groups are known"):
        ask(lake, "gonne")
    with pytest.raises(QueryError, match="Cannot read 'soon' as a time"):
        ask(lake, "readers", "--at", "soon")
