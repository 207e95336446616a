from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from dashboard import pulse
from zklake.health import serve_health


def test_of_several_that_answer_to_a_name_one_that_is_ready_is_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kubernetes: the watcher and its standby are one name."""
    standby, other, look_up = "standby: another watcher writes", [""], socket.getaddrinfo
    with ExitStack() as stack:
        addresses = [
            stack.enter_context(serve_health("127.0.0.1:0", CollectorRegistry(), obstacle))
            for obstacle in (lambda: standby, lambda: other[0])
        ]
        ports = [int(address.rpartition(":")[2]) for address in addresses]
        known = [(socket.AF_INET, 1, 6, "", ("127.0.0.1", port)) for port in ports]

        def find(host: str, *args: Any, **options: Any) -> Any:
            return known if host == "zklake-watcher" else look_up(host, *args, **options)

        monkeypatch.setattr(socket, "getaddrinfo", find)
        assert pulse._get("zklake-watcher:9464") == ("up", "")
        other[0] = "no ZooKeeper"
        assert pulse._get("zklake-watcher:9464") == ("not ready", standby)
    assert pulse._get("zklake-watcher:9464") == ("down", "it does not answer")


def test_a_name_that_nobody_knows_is_down() -> None:
    assert pulse._get("nobody.invalid:9464") == ("down", "its host name cannot be resolved")
