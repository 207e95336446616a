"""What the incident view is made of, as JSON and as drawings; the browser's part: test_timeline."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from dashboard.options import Options
from tests.dashboard.addresses import write_address
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER

GROUP = write_address("/group", group_id="billing")


@pytest.fixture(scope="module")
def group(client: TestClient) -> Any:
    return client.get(f"/api{GROUP}").json()


def _known(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def test_all_that_happened_around_a_group(group: Any) -> None:
    # All partitions of its topic changed when broker 2 left; those of other topics are not its.
    assert {row["topic"] for row in group["states"]} == {"orders"}
    assert {row["replica_count"] for row in group["states"]} == {3}
    assert [row["leader"] for row in group["states"] if row["partition"] == 1] == [2, -1, 3, 3]
    away = [life for life in group["sessions"] if life["left_at"]]
    assert [(life["broker_id"], life["ended_by"]) for life in away] == [(2, "session_ended")]
    changed = {(row["entity_type"], row["config_key"]) for row in group["configs_changed"]}
    assert changed == {("topics", "retention.ms"), ("users", "SCRAM-SHA-256")}
    assert [row["operation"] for row in group["operations"]] == ["reassignment"]
    # The first start was two days ago.
    assert [row["reason"] for row in group["gaps"]] == ["session_expired"]


def test_the_band_is_around_the_total_and_has_the_peak(group: Any) -> None:
    least, most = group["lag"]["total"]["least"], group["lag"]["total"]["most"]
    assert len(least) == len(most) == len(group["lag"]["x"])
    pairs = [pair for pair in zip(least, most, strict=True) if None not in pair]
    assert all(low <= high for low, high in pairs)
    assert any(low < high for low, high in pairs)
    assert max(_known(most)) == group["peak"]["lag"]
    seconds = [_known(line["values"]) for line in group["lag"]["lag_seconds"]]
    assert max(_known(group["lag"]["worst"]["most"])) == max(map(max, seconds))


def test_rates_are_those_of_the_story(group: Any) -> None:
    """Each of six partitions gets 1,500 records a minute; while a member is away, less is read."""
    produced, consumed = _known(group["lag"]["produced"]), _known(group["lag"]["consumed"])
    assert produced[5:-5] == [pytest.approx(150, abs=1)] * len(produced[5:-5])
    assert min(consumed[5:-5]) < 110
    assert max(consumed) > 200


def test_partitions_that_did_not_change_are_not_read(client: TestClient) -> None:
    quiet = client.get(f"/api{GROUP}&from=-10m&to=-5m").json()
    assert quiet["states"] == []
    assert len(quiet["sessions"]) == 3
    topic = client.get(write_address("/api/topic", topic="orders", **{"from": "-10m", "to": "-5m"}))
    assert {row["partition"] for row in topic.json()["states"]} == set(range(6))


def test_who_may_not_ask_sql_is_led_to_the_time_machine(client: TestClient, lake: str) -> None:
    assert "/sql?query=SELECT+%2A+FROM+ownership_history" in client.get(GROUP).text
    text = open_client(Options(lake, CLUSTER, sql=False)).get(GROUP).text
    assert "/sql" not in text
    assert 'href="/at?time=' in text


def test_the_rise_is_in_the_range_that_why_shows(client: TestClient) -> None:
    for given in ({}, {"last": "15m"}, {"last": "24h"}):
        address = write_address("/api/why", group_id="billing", **given)
        answer = client.get(address).json()
        rise = answer["answers"][0]["rises"][answer["answers"][0]["rise"] - 1]
        around = answer["incident"]
        assert around["from"] <= rise["rise_from"] < rise["rise_to"] <= around["to"]
        assert around["rebalances"]
    assert client.get("/api/why").json()["incident"] is None
