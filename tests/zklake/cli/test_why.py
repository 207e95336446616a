from __future__ import annotations

import json
from collections.abc import Collection, Iterable

import pytest
import typer
from deltalake import DeltaTable
from typer.testing import CliRunner, Result

from delta_tables import reading
from delta_tables.asking.lakes import Lake
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import open_named
from delta_tables.views import VIEWS
from tests.delta_tables.lag_stories import STORIES
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import Row, at, state
from zklake.cli.why import why
from zklake.errors import QueryError

app = typer.Typer()
app.command()(why)

VIEWS_ASKED = ("root_cause", "group_lag_now")
INPUTS = {"consumer_offsets", "znode_events", "log_gaps"}
INPUTS |= {name for view in VIEWS if view.name in VIEWS_ASKED for name in view.inputs}
HOSTILE = "g_\x1b[31m"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A group that lost a member whose name is a threat, and one that never had any trouble."""
    path = str(tmp_path_factory.mktemp("lake"))
    told = STORIES["member_lost"][0]()
    rows: dict[str, list[Row]] = {name: [dict(row) for row in told[name]] for name in told}
    for row in rows["consumer_membership"]:
        row["member_id"] = row["member_id"].replace("g_b", HOSTILE)
    calm: Row = {"coordinator": "kafka", "group_id": "calm", "topic": "t", "partition": 0}
    gone = state(0, 1, "deleted", **calm | {"group_id": "gone"}, committed_offset=5)
    rows["consumer_offsets"] = [state(0, **calm, committed_offset=5), gone]
    rows["log_gaps"] = [state(10, 11, "in_sync", gap_id="1", reason="connection_lost")]
    times = [round(at(minute).timestamp() * 1000) for minute in (0, 60)]
    rows["znode_events"] = [
        {"seq": n, "op": "heartbeat", "observed_at_ms": ms, "observed_on": "2026-11-16"}
        for n, ms in enumerate(times)
    ]
    write_lake(path, "kafka", rows, [TABLE_BY_NAME[name] for name in INPUTS])
    return path


def ask(lake: str, *args: str) -> Result:
    result = CliRunner().invoke(app, [*args, "--lake", lake], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_the_cause_is_told_with_the_rows_behind_it(lake: str) -> None:
    result = ask(lake, "g", "--at", "2026-11-16T03:30:00Z")
    first, likeliest, *others = result.stdout.splitlines()
    assert first == (
        "The lag of group g (zookeeper, kafka) rose from 20 to 620 between 2026-11-16T03:09:54Z "
        "and 2026-11-16T03:12:54Z."
    )
    assert likeliest == (
        "Most likely: 2026-11-16T03:10:18Z member g_\\x1b[31m was lost: it left (session_closed) "
        "(score 90) [consumer_membership 618]"
    )
    assert others[0].startswith("  then: 2026-11-16T03:10:18Z the group rebalanced: session_exp")
    assert "consumer_membership:" in others
    assert "rebalances:" in others
    assert result.stderr == ""


def test_as_json_with_rows(lake: str) -> None:
    (said,) = json.loads(ask(lake, "g", "--at", "2026-11-16T03:30Z", "--json").stdout)
    assert (said["cluster"], said["group_id"], said["rise"]["added"]) == ("kafka", "g", 600)
    cause = said["causes"][0]
    assert (cause["cause"], cause["source_seq"]) == ("member_lost", 618)
    assert cause["says"] == f"member {HOSTILE} was lost: it left (session_closed)"
    (row,) = cause["rows"]
    assert (row["member_id"], row["valid_to_at"]) == (HOSTILE, "2026-11-16T03:10:18Z")


def test_what_is_not_certain_is_said(lake: str) -> None:
    assert "lies in a gap (connection_lost" in ask(lake, "g", "--at", "2026-11-16T03:10:30").stderr
    late = ask(lake, "g", "--at", "2026-11-16T04:10:00Z")
    assert "past the watermark" in late.stderr
    assert "rose from 20 to 620" in late.stdout


def test_no_rise_is_an_answer(lake: str) -> None:
    said = ask(lake, "g", "--at", "2026-11-16T03:05:00Z").stdout
    assert "did not rise notably between 2026-11-16T02:05:00Z and 2026-11-16T03:05:00Z" in said
    said = ask(lake, "calm").stdout
    assert "group calm (kafka, kafka) did not rise" in said
    assert "Its lag is not followed" in said


def test_commits_are_read_only_within_limits(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be billions of them: nothing here may open the table."""
    opened: set[str] = set()

    def record(lakes: Iterable[Lake], names: Collection[str]) -> dict[str, list[DeltaTable]]:
        opened.update(names)
        return open_named(lakes, names)

    monkeypatch.setattr(reading, "open_named", record)
    ask(lake, "g", "--at", "2026-11-16T03:30:00Z")
    with pytest.raises(QueryError, match="no group"):
        ask(lake, "nobody")
    assert "group_lag_now" in opened
    assert "consumer_offsets" not in opened


def test_an_unknown_group_is_refused(lake: str) -> None:
    with pytest.raises(QueryError, match="no group 'calmm' in kafka; did you mean calm"):
        ask(lake, "calmm")
    with pytest.raises(QueryError, match='no group "it\'s"'):
        ask(lake, "it's")
    # A group that is no more may be asked about by its name, but is not proposed.
    assert "group gone (kafka, kafka) did not rise" in ask(lake, "gone").stdout
    with pytest.raises(QueryError, match="no group 'gonne' in kafka; 2 groups are known"):
        ask(lake, "gonne")
    with pytest.raises(QueryError, match="Cannot read 'soon' as a time"):
        ask(lake, "g", "--at", "soon")
