"""Burrow's answers of the story: every field of every one."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.dashboard.dialects.burrow.shapes import CLUSTER as CLUSTER_MODULE
from tests.dashboard.dialects.burrow.shapes import STATUS, WINDOW, check_body, check_shape
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC, UNICODE_GROUP
from tests.dashboard.story_commits import LEDGER, find_end
from tests.dashboard.story_groups import find_lag

SHOP = "/v3/kafka/shop"


def fetch(client: TestClient, path: str, wanted: Any, message: str) -> dict[str, Any]:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    body: dict[str, Any] = answer.json()
    check_body(body, wanted, path.partition("?")[0], message)
    return body


def fetch_group(client: TestClient, path: str) -> dict[str, Any]:
    body = fetch(client, f"{SHOP}/consumer/{path}", STATUS, "consumer status returned")
    status: dict[str, Any] = body["status"]
    return status


def test_the_lists(client: TestClient) -> None:
    found = fetch(client, "/v3/kafka", {"clusters": [""]}, "cluster list returned")
    assert found["clusters"] == ["shop"]
    found = fetch(client, f"{SHOP}/topic", {"topics": [""]}, "topic list returned")
    assert found["topics"] == sorted(["orders", "payments", HOSTILE_TOPIC])
    found = fetch(client, f"{SHOP}/consumer", {"consumers": [""]}, "consumer list returned")
    groups = ["audit", "billing", "ledger", "search", HOSTILE_GROUP, UNICODE_GROUP]
    assert found["consumers"] == sorted(groups), "and not who was silent for a week"
    path = f"{SHOP}/topic/orders/consumers"
    found = fetch(client, path, {"consumers": [""]}, "consumers of topic returned")
    assert found["consumers"] == ["billing", "search"]
    path = f"{SHOP}/topic/nobodys/consumers"
    assert (
        fetch(client, path, {"consumers": [""]}, "consumers of topic returned")["consumers"] == []
    )


def test_the_cluster_and_a_topic(client: TestClient) -> None:
    wanted = {"module": CLUSTER_MODULE}
    found = fetch(client, SHOP, wanted, "cluster module detail returned")
    assert found["module"]["servers"] == [f"kafka-{n}.shop.example:9092" for n in (1, 2, 3)]
    found = fetch(client, f"{SHOP}/topic/orders", {"offsets": [0]}, "topic offsets returned")
    assert found["offsets"] == [find_end(partition, 1) for partition in range(6)]


def test_a_group_that_is_fine(client: TestClient) -> None:
    status = fetch_group(client, "billing/status")
    assert (status["cluster"], status["group"], status["status"]) == ("shop", "billing", "OK")
    assert status["complete"] == 1.0
    assert status["partitions"] == []
    assert status["partition_count"] == 6
    lags = [find_lag(1, partition) for partition in range(6)]
    assert status["totallag"] == sum(lags)
    assert status["maxlag"]["current_lag"] == max(lags)
    everything = fetch_group(client, "billing/lag")
    assert {**everything, "partitions": []} == status
    assert [one["partition"] for one in everything["partitions"]] == list(range(6))
    assert [one["current_lag"] for one in everything["partitions"]] == lags
    third = everything["partitions"][3]
    assert (third["topic"], third["owner"], third["client_id"]) == ("orders", "billing_web-b-1", "")
    assert (third["status"], third["complete"]) == ("OK", 1.0)
    assert (third["start"]["lag"], third["end"]["lag"]) == (find_lag(10, 3), find_lag(1, 3))
    assert third["end"]["offset"] == find_end(3, 1) - find_lag(1, 3)
    assert third["end"]["timestamp"] - third["start"]["timestamp"] == 9 * 60_000


def test_every_status_there_is(client: TestClient) -> None:
    ledger = fetch_group(client, "ledger/lag")
    assert ledger["status"] == "ERR"
    assert [one["status"] for one in ledger["partitions"]] == ["STALL", "REWIND", "WARN"]
    assert fetch_group(client, "ledger/status")["partitions"] == ledger["partitions"]
    audit = fetch_group(client, "audit/status")
    assert (audit["status"], audit["partition_count"]) == ("ERR", 3)
    assert [(one["partition"], one["status"]) for one in audit["partitions"]] == [(0, "STOP")]
    assert audit["complete"] == pytest.approx(1 / 3), "nobody ever committed the other two"
    untouched = fetch_group(client, "audit/lag")["partitions"][1]
    assert untouched["start"] is None
    assert untouched["end"] is None
    assert (untouched["status"], untouched["complete"]) == ("OK", 0.0)


def test_the_windows_of_a_group(client: TestClient) -> None:
    wanted = {"topics": {"payments": [WINDOW]}}
    path = f"{SHOP}/consumer/ledger"
    found = fetch(client, path, wanted, "consumer detail returned")["topics"]["payments"]
    assert [[one["offset"] for one in part["offsets"]] for part in found] == list(LEDGER)
    assert [part["current-lag"] for part in found] == [
        find_end(partition, 1) - offsets[-1] for partition, offsets in enumerate(LEDGER)
    ]
    search = client.get(f"{SHOP}/consumer/search").json()["topics"]["orders"]
    check_shape(search, [WINDOW])
    assert len(search) == 6
    assert search[0]["offsets"][:9] == [None] * 9, "slots that nobody filled yet"
    assert search[0]["offsets"][9]["offset"] == 189_000
    assert search[1]["offsets"] == []


def test_any_moment_may_be_asked_for(client: TestClient) -> None:
    now, then = (fetch_group(client, f"audit/status{time}") for time in ("", "?time=-31m"))
    assert (now["status"], then["status"]) == ("ERR", "WARN")
    assert fetch_group(client, "billing/lag?time=-25m")["partitions"][0]["owner"] != ""
    early = client.get(f"{SHOP}/consumer/audit/status?time=-2h")
    assert (early.status_code, early.json()["status"]["status"]) == (404, "NOTFOUND")
    for time in ("soon", "0001-01-01", "9999-01-01"):
        answer = client.get(f"{SHOP}/consumer/audit/status", params={"time": time})
        assert answer.status_code == 400
        assert answer.json()["error"] is True
