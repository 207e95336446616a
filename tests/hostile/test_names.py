"""Hostile names in a lake: shown as text by pages, metrics, JSON, CSV and terminal, never run."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from dashboard.options import MetricOptions, Options
from tests.dashboard.conftest import open_client
from tests.dashboard.story import Story
from tests.dashboard.story_lake import CLUSTER, tell_events
from tests.delta_tables.small_lake import write_lake
from tests.hostile.attempts import Attempt, list_params
from tests.hostile.hostile_names import ATTEMPTS, NAMES
from tests.hostile.html import Read
from zklake.cli.answers import lay_out, print_rows

ALL = list(NAMES.values())
# What turns the order of what follows.
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
LISTS = ("/", "/groups", "/topics", "/brokers", "/changes", "/rebalances", "/at", "/quality")


def write_names(lake: str) -> None:
    """A group, a topic, a broker and a config of each name."""
    story = Story()
    for number, name in enumerate(ALL):
        group = {"coordinator": "zookeeper", "group_id": name}
        member = {"member_id": f"{name}_m", "host": name, "pattern": name}
        story.add(
            "consumer_membership", 9, None, **group, **member, is_known=True, subscription={name: 1}
        )
        place = {"topic": name, "partition": 0}
        columns = {"owner": name, "owner_member_id": name, "owner_stream": 0, "is_known": True}
        story.add("ownership_history", 9, None, **group, **place, **columns)
        lag = {"lag": number, "committed_offset": 5, "status": "OK"}
        story.add("offset_lag", 9, None, **group, **place, **lag)
        cost = {"trigger": "member_joined", "trigger_member_id": name, "partitions": 1}
        story.add(
            "rebalances", 9, 8, **group, **cost, moved=1, outcome="settled", ended_by="settled"
        )
        story.add("topics", 9, None, topic=name, partition_count=1, is_known=True)
        story.add("partition_state", 9, None, **place, leader=number, isr=[1], is_known=True)
        story.add(
            "broker_membership",
            9,
            None,
            broker_id=number,
            endpoints=[f"PLAINTEXT://{name}:9"],
            rack=name,
            is_known=True,
        )
        config = {"entity_type": "topics", "entity_name": name, "config_key": name}
        story.add("config_history", 9, None, **config, value=name, is_known=True)
    write_lake(lake, CLUSTER, story.rows)
    tell_events(lake, 0)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    lake = str(tmp_path_factory.mktemp("names"))
    write_names(lake)
    metrics = MetricOptions(
        sets=("zklake", "burrow", "kminion"), detail="partitions", member_labels=True
    )
    return open_client(Options(lake, CLUSTER, metrics=metrics, stale_after_s=100_000))


@pytest.fixture(scope="module")
def pages(client: TestClient) -> Mapping[str, Read]:
    return {path: Read(open_page(client, path)) for path in LISTS}


def open_page(client: TestClient, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    assert "set-cookie" not in answer.headers
    assert "49" not in answer.text or "{{7*7}}" not in path
    return answer.text


@pytest.mark.parametrize("attempt", list_params(ATTEMPTS))
def test_a_name_is_shown_and_never_run(
    client: TestClient, pages: Mapping[str, Read], attempt: Attempt
) -> None:
    name = attempt.text
    match attempt.group.rpartition(" ")[2]:
        case "group":
            path = f"/group?{urlencode({'group_id': name})}"
        case "topic":
            path = f"/topic?{urlencode({'topic': name})}"
        case "broker":
            path = "/brokers"
        case _:
            path = "/changes"
    read = pages[path] if path in pages else Read(open_page(client, path))
    assert read.dangers == []
    assert read.shows(name)
    if path not in pages:
        assert name in list_texts(client.get(f"/api{path}").json())


def list_texts(found: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(found, str):
        return [found]
    if isinstance(found, dict):
        return [text for value in found.values() for text in list_texts(value)]
    return (
        [text for value in found for text in list_texts(value)] if isinstance(found, list) else []
    )


@pytest.mark.parametrize("path", LISTS)
def test_no_list_runs_any_of_them(pages: Mapping[str, Read], path: str) -> None:
    assert pages[path].dangers == []


def test_they_are_labels_and_no_metrics(client: TestClient) -> None:
    text = client.get("/metrics").text
    families = list(text_string_to_metric_families(text))
    assert not [family.name for family in families if "evil" in family.name]
    groups = {sample.labels.get("group_id") for family in families for sample in family.samples}
    assert len(groups & set(ALL)) > len(ALL) * 3 / 4


def test_a_spreadsheet_runs_none_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["name"], [[name] for name in ALL], "csv")
    text = capsys.readouterr().out
    cells = [cell for (cell,) in csv.reader(io.StringIO(text, newline=""))]
    assert [cell.removeprefix("'") for cell in cells[1:]] == [one.removeprefix("'") for one in ALL]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\n"))]


def test_a_number_is_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["a", "b", "c"], [["-1", -1, "+2.5"]], "csv")
    assert capsys.readouterr().out == "a,b,c\n-1,-1,+2.5\n"


def test_json_has_them_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["name"], [[name] for name in ALL], "json")
    text = capsys.readouterr().out
    assert [row["name"] for row in json.loads(text)] == ALL
    assert text.replace("\n", "").isprintable()


def test_none_steers_a_terminal() -> None:
    lines = list(lay_out(["name"], [[name] for name in ALL]))
    assert len(lines) == len(ALL) + 1
    for line in lines:
        assert not {unicodedata.category(one) for one in line} & {"Cc", "Zl", "Zp"}
        assert not {unicodedata.bidirectional(one) for one in line} & BIDI
