from __future__ import annotations

import socket
import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry

from zklake.errors import ZklakeError
from zklake.health import serve_health


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
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


def test_an_obstacle_of_any_characters_is_told() -> None:
    with serve_health("127.0.0.1:0", CollectorRegistry(), lambda: "no /lake\udcff") as address:
        assert fetch(f"http://{address}/readyz") == (503, "no /lake\\udcff\n")


@pytest.mark.parametrize("is_ours", [True, False], ids=["taken", "not of this machine"])
def test_an_address_that_cannot_be_had_is_told_in_words(is_ours: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}" if is_ours else "192.0.2.1:9464"
        with (
            pytest.raises(ZklakeError, match=rf"cannot listen at {listen} \(.+\): .*watcher.http"),
            serve_health(listen, CollectorRegistry(), lambda: None),
        ):
            raise AssertionError("it must not get here")


def test_it_listens_at_an_address_of_ipv6() -> None:
    if not is_at_home("::1"):
        pytest.skip("this machine has no IPv6")
    with serve_health("[::1]:0", CollectorRegistry(), lambda: None) as address:
        assert address.startswith("[::1]:")
        assert fetch(f"http://{address}/readyz") == (200, "ready\n")


def is_at_home(host: str) -> bool:
    try:
        with socket.socket(socket.AF_INET6) as taken:
            taken.bind((host, 0))
    except OSError:
        return False
    return True
