"""Burrow's addresses: what is not there, what is refused, and names of any kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from dashboard.app import build_app
from dashboard.dialects.burrow.addresses import ADDRESSES
from dashboard.options import Options
from delta_tables.catalog import TABLE_BY_NAME
from tests.dashboard.conftest import ADDRESS, open_client
from tests.dashboard.serving import serve
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC, UNICODE_GROUP
from tests.delta_tables.small_lake import write_lake

MISSING = {
    "/v3/kafka/other": "cluster module not found",
    "/v3/kafka/other/topic": "cluster not found",
    "/v3/kafka/other/topic/orders": "cluster or topic not found",
    "/v3/kafka/shop/topic/nobodys": "cluster or topic not found",
    "/v3/kafka/other/topic/orders/consumers": "cluster not found",
    "/v3/kafka/other/consumer": "cluster not found",
    "/v3/kafka/other/consumer/billing": "cluster or consumer not found",
    "/v3/kafka/shop/consumer/nobody": "cluster or consumer not found",
    "/v3/kafka/shop/consumer/forgotten": "cluster or consumer not found",
    "/v3": "invalid request type",
    "/v3/kafka/shop/nothing": "invalid request type",
    "/v3/kafka/shop/consumer/billing/nothing": "invalid request type",
    "/v3/config/nothing": "invalid request type",
    "/v3/config/nothing/at-all": "invalid request type",
}


@pytest.mark.parametrize("path", MISSING)
def test_what_is_not_there(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    body = answer.json()
    assert (body["error"], body["message"]) == (True, MISSING[path])
    assert body["request"]["url"] == path
    assert ("result" in body) == (MISSING[path] == "invalid request type")


@pytest.mark.parametrize("name", ["other/consumer/billing", "shop/consumer/nobody"])
@pytest.mark.parametrize("view", ["status", "lag"])
def test_a_status_of_nobody(client: TestClient, name: str, view: str) -> None:
    """Burrow's own way: 404, and yet no error."""
    answer = client.get(f"/v3/kafka/{name}/{view}")
    assert answer.status_code == 404
    cluster, _, group = name.split("/")
    body = answer.json()
    assert (body["error"], body["message"]) == (False, "consumer status returned")
    assert body["status"] == {
        "cluster": cluster,
        "group": group,
        "status": "NOTFOUND",
        "complete": 1.0,
        "partitions": [],
        "partition_count": 0,
        "maxlag": None,
        "totallag": 0,
    }


@pytest.mark.parametrize("method", ["DELETE", "POST", "PUT", "PATCH", "OPTIONS"])
def test_it_only_reads(client: TestClient, method: str) -> None:
    paths = ("/v3/kafka/shop/consumer/billing", "/v3/admin/loglevel")
    for path in (*paths, "/v3/kafka/shop/consumer/billing/topic/orders"):
        answer = client.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
        body = answer.json()
        assert (body["error"], body["request"]["url"]) == (True, path)
        assert "zklake only reads" in body["message"]
    assert client.get("/v3/kafka/shop/consumer/billing").status_code == 200


def test_the_health_addresses(client: TestClient, empty_client: TestClient) -> None:
    for one in (client, empty_client):
        assert (one.get("/burrow/admin").status_code, one.get("/burrow/admin").text) == (
            200,
            "GOOD",
        )
    ready, starting = client.get("/burrow/admin/ready"), empty_client.get("/burrow/admin/ready")
    assert (ready.status_code, ready.text) == (200, "READY")
    assert (starting.status_code, starting.text) == (503, "STARTING")


def test_an_empty_lake_has_nobody(empty_client: TestClient) -> None:
    for kind, name in (("topic", "topics"), ("consumer", "consumers")):
        answer = empty_client.get(f"/v3/kafka/shop/{kind}")
        assert (answer.status_code, answer.json()[name]) == (200, [])
    assert empty_client.get("/v3/kafka/shop/consumer/billing/lag").status_code == 404


@pytest.mark.parametrize("group", [HOSTILE_GROUP, UNICODE_GROUP])
def test_a_name_of_any_kind(client: TestClient, group: str) -> None:
    path = f"/v3/kafka/shop/consumer/{quote(group, safe='')}"
    for view in ("", "/status", "/lag"):
        answer = client.get(path + view)
        assert answer.status_code == 200
        assert answer.json()["request"]["url"] == f"/v3/kafka/shop/consumer/{group}{view}"
    assert client.get(f"{path}/lag").json()["status"]["group"] == group
    topic = client.get(f"/v3/kafka/shop/topic/{quote(HOSTILE_TOPIC, safe='')}/consumers")
    assert topic.json()["consumers"] == [HOSTILE_GROUP]


@pytest.mark.parametrize(
    "name", ["%FF", "%00", "%2F", "%ED%A0%80", "'", "%0A", "..%2F..", "{group}"]
)
def test_a_name_of_nobody_breaks_nothing(client: TestClient, name: str) -> None:
    for address in ADDRESSES:
        path = "/".join(name if part[:1] == "{" else part for part in address.path.split("/"))
        answer = client.get(path)
        assert answer.status_code == (404 if "{" in address.path else 200)
        assert isinstance(answer.json(), dict)


def test_names_with_a_slash_over_a_real_server(lake: str) -> None:
    """uvicorn decodes a path before anybody sees it: what counts is the raw one."""
    path = f"/v3/kafka/shop/consumer/{quote(HOSTILE_GROUP, safe='')}/status?x=/"
    with serve(Options(lake, "shop")) as address, urlopen(address + path) as answer:
        assert json.load(answer)["status"]["group"] == HOSTILE_GROUP


def test_questions_about_moments_are_not_kept(lake: str) -> None:
    app = build_app(Options(lake, "shop"))
    client = TestClient(app.asgi, base_url=ADDRESS)
    kept = [
        client.get(f"/v3/kafka/shop/consumer/billing/lag?time=-{number}s").status_code
        and len(app.tables.cache._answers)
        for number in range(1, 6)
    ]
    assert kept == [kept[0]] * 5


def test_numbers_that_cannot_be(tmp_path: Path) -> None:
    most = 2**63 - 1
    place: dict[str, Any] = {"topic": "t", "valid_from_at": "2026-11-16T03:00:00Z"}
    ends = [
        {**place, "partition": p, "log_end_offset": most, "sampled_at": place["valid_from_at"]}
        for p in range(3)
    ]
    commits = [
        {**place, "coordinator": "zookeeper", "group_id": "g", "partition": p}
        | {"committed_offset": 0}
        for p in (0, 1, 2, 2**31 - 1)
    ]
    event = {"observed_at_ms": 1_794_000_000_000, "observed_on": "2026-11-06"}
    rows = {"log_ends": ends, "consumer_offsets": commits, "znode_events": [event]}
    write_lake(str(tmp_path), "c", rows, [TABLE_BY_NAME[name] for name in rows])
    body = open_client(Options(str(tmp_path), "c")).get("/v3/kafka/c/consumer/g/lag").json()
    assert body["status"]["totallag"] == 2**64 - 1
    assert [one["current_lag"] for one in body["status"]["partitions"]] == [most] * 3
