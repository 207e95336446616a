"""Burrow's settings in the story: what is true, and nothing secret."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from dashboard.options import Options
from tests.dashboard.conftest import open_client
from tests.dashboard.dialects.burrow.shapes import CLUSTER, CONSUMER, MAIN, STORAGE, check_body

KINDS = {
    "storage": ["lake"],
    "evaluator": ["burrow"],
    "cluster": ["shop"],
    "consumer": ["kafka", "zookeeper"],
    "notifier": [],
}
MODULES = {
    "storage/lake": STORAGE,
    "evaluator/burrow": {"class-name": "", "expire-cache": 0},
    "cluster/shop": CLUSTER,
    "consumer/kafka": CONSUMER,
    "consumer/zookeeper": CONSUMER,
}
# What Burrow's own tools go by, and a week for a group to be forgotten.
TRUTHS: dict[str, dict[str, Any]] = {
    "storage/lake": {"class-name": "zklake", "intervals": 10, "expire-group": 7 * 86_400},
    "evaluator/burrow": {"class-name": "zklake"},
    "cluster/shop": {
        "class-name": "kafka",
        "servers": [f"kafka-{broker}.shop.example:9092" for broker in (1, 2, 3)],
    },
    "consumer/kafka": {
        "class-name": "kafka",
        "cluster": "shop",
        "offsets-topic": "__consumer_offsets",
    },
    "consumer/zookeeper": {"class-name": "kafka_zk", "cluster": "shop", "offsets-topic": ""},
}


def fetch(client: TestClient, path: str, wanted: Any, message: str) -> dict[str, Any]:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    check_body(body, wanted, path, message)
    return body


def test_the_main_settings(client: TestClient) -> None:
    found = fetch(client, "/v3/config", MAIN, "main config returned")
    assert found["httpserver"]["default"]["address"] == "127.0.0.1:80"
    level = fetch(client, "/v3/admin/loglevel", {"level": ""}, "log level returned")["level"]
    assert level == found["logging"]["level"]
    assert level in ("debug", "info", "warning", "error")


@pytest.mark.parametrize("kind", KINDS)
def test_the_modules(client: TestClient, kind: str) -> None:
    wanted = {"coordinator": "", "modules": [""]}
    found = fetch(client, f"/v3/config/{kind}", wanted, "module list returned")
    assert (found["coordinator"], found["modules"]) == (kind, KINDS[kind])
    missing = client.get(f"/v3/config/{kind}/nobody")
    assert missing.status_code == 404
    assert missing.json()["message"] == f"{kind} module not found"


@pytest.mark.parametrize("module", MODULES)
def test_a_module(client: TestClient, module: str) -> None:
    kind = module.partition("/")[0]
    wanted = {"module": MODULES[module]}
    found = fetch(client, f"/v3/config/{module}", wanted, f"{kind} module detail returned")
    assert found["module"].items() >= TRUTHS[module].items()


def test_no_secret_is_told(lake: str) -> None:
    options = Options(lake, "shop", user="ann", password="p4ssw0rd", token="t0k3n")
    client = open_client(options)
    assert client.get("/v3/kafka").status_code == 401
    assert client.get("/burrow/admin").status_code == 401
    headers = {"authorization": "Bearer t0k3n"}
    paths = ["/v3/config", *(f"/v3/config/{module}" for module in MODULES)]
    for path in paths:
        answer = client.get(path, headers=headers)
        assert answer.status_code == 200
        assert not [secret for secret in ("ann", "p4ssw0rd", "t0k3n") if secret in answer.text]
