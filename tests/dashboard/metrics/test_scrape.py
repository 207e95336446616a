"""Scrapes over HTTP: who may, what if the lake cannot be read, and what is not made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from dashboard.app import build_app
from dashboard.options import MetricOptions, Options
from delta_tables.live.tables import Tables
from tests.dashboard.conftest import ADDRESS, open_client
from tests.dashboard.story_lake import CLUSTER, tell_news, write_story
from tests.delta_tables.small_lake import write_lake

ALL = ("zklake", "lag_exporter", "kminion", "kafka_exporter", "burrow")


def test_it_is_behind_the_guard(lake: str) -> None:
    client = open_client(Options(lake, CLUSTER, token="s3cret"))
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics/kminion").status_code == 401
    bearer = {"authorization": "Bearer s3cret"}
    assert client.get("/metrics", headers=bearer).status_code == 200


def test_a_set_that_is_not_there(lake: str) -> None:
    answer = open_client(Options(lake, CLUSTER)).get("/metrics/jmx")
    assert answer.status_code == 404
    assert "kafka_exporter" in answer.text


def test_metrics_are_the_sets_of_the_settings(lake: str) -> None:
    options = Options(lake, CLUSTER, metrics=MetricOptions(sets=("burrow",)))
    text = open_client(options).get("/metrics").text
    assert "burrow_kafka_consumer_status" in text
    assert "zklake_group_lag" not in text
    assert "kminion_exporter_up" in open_client(options).get("/metrics/kminion").text


def test_without_news_nothing_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = str(tmp_path)
    write_story(lake, groups=3)
    app = build_app(Options(lake, CLUSTER, metrics=MetricOptions(sets=ALL, detail="partitions")))
    client = TestClient(app.asgi, base_url=ADDRESS)
    asked: list[str] = []
    run = Tables._run

    def count(self: Tables, *sql: Any) -> list[dict[str, Any]]:
        asked.append(sql[0])
        return run(self, *sql)

    monkeypatch.setattr(Tables, "_run", count)
    first = client.get("/metrics").text
    assert len(asked) > 10
    asked.clear()
    assert client.get("/metrics").text == first
    assert asked == []
    tell_news(lake, "newcomer")
    app.tables.look(anew=True)
    assert 'group_id="newcomer"' in client.get("/metrics").text
    assert asked


def test_a_lake_that_cannot_be_read_is_no_empty_answer(tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    for file in (tmp_path / CLUSTER / "offset_lag").rglob("*.parquet"):
        file.write_bytes(b"broken")
    answer = open_client(Options(str(tmp_path), CLUSTER)).get("/metrics")
    assert answer.status_code == 503
    assert "zklake_" not in answer.text


def test_the_largest_numbers(tmp_path: Path) -> None:
    most = 2**63 - 1
    rows = [
        {
            "valid_from_seq": 1,
            "coordinator": "zookeeper",
            "group_id": "g",
            "topic": "t",
            "partition": p,
            "committed_offset": most,
            "lag": most,
            "raw_lag": -most,
        }
        for p in range(3)
    ]
    write_lake(str(tmp_path), CLUSTER, {"offset_lag": rows})
    text = open_client(Options(str(tmp_path), CLUSTER)).get("/metrics/kminion").text
    line = 'kminion_kafka_consumer_group_topic_lag{group_id="g",topic_name="t"} '
    (told,) = [one.removeprefix(line) for one in text.splitlines() if one.startswith(line)]
    assert float(told) == pytest.approx(3 * 2.0**63)
