from __future__ import annotations

import urllib.error
import urllib.request

from prometheus_client import CollectorRegistry

from zklake.health import serve_health


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_an_illness_fails_healthz_and_an_obstacle_readyz() -> None:
    said: dict[str, str | None] = {"obstacle": None, "illness": None}
    with serve_health(
        "127.0.0.1:0", CollectorRegistry(), lambda: said["obstacle"], lambda: said["illness"]
    ) as address:
        assert fetch(f"http://{address}/healthz") == (200, "alive\n")
        assert fetch(f"http://{address}/readyz") == (200, "ready\n")
        said.update(obstacle="warming up", illness="it hangs")
        assert fetch(f"http://{address}/healthz") == (503, "it hangs\n")
        assert fetch(f"http://{address}/readyz") == (503, "warming up\n")
