from __future__ import annotations

import threading
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from dashboard.options import Options
from lab.ports import find_free_ports
from tests.dashboard.serving import serve
from tests.dashboard.test_tls import make_certificate
from tests.zklake.supervision.test_supervisor import Notes
from zklake.errors import Fenced, SettingsError
from zklake.health import serve_health
from zklake.supervision.part import Addresses, ProductPart, Site, build_parts
from zklake.supervision.product import Product
from zklake.supervision.supervisor import Supervisor

SITE = Site("127.0.0.1:1", "127.0.0.1:1", "no/name", "/nowhere")


def build(tmp_path: Path) -> list[ProductPart]:
    watch, stream, page, audit = (f"127.0.0.1:{port}" for port in find_free_ports(4))
    return build_parts(SITE, Addresses(watch, stream, page, audit), tmp_path)


def test_readiness_is_what_readyz_says(tmp_path: Path) -> None:
    watch = build(tmp_path)[0]
    assert watch.find_obstacle() == "does not answer yet"
    said: list[str | None] = ["scanning the tree", None]
    with serve_health(watch.http, CollectorRegistry(), lambda: said.pop(0)):
        assert watch.find_obstacle() == "scanning the tree"
        assert watch.find_obstacle() is None


def test_one_that_listens_everywhere_is_asked_here(tmp_path: Path) -> None:
    port = find_free_ports(1)[0]
    part = ProductPart("stream", [], f"0.0.0.0:{port}", tmp_path)
    with serve_health(f"127.0.0.1:{port}", CollectorRegistry(), lambda: None):
        assert part.find_obstacle() is None


def test_a_dashboard_with_a_certificate_is_asked_by_https(tmp_path: Path) -> None:
    tls = make_certificate(tmp_path)
    options = Options(str(tmp_path / "nothing"), "c")
    with serve(options, tls=tls) as address:
        http = address.removeprefix("https://")
        part = ProductPart("dashboard", [], http, tmp_path, has_tls=True)
        assert part.find_obstacle() == "no data yet"
        assert part.url == address
        # Asked in plain text it would never be ready, and `zklake run` would wait for ever.
        assert ProductPart("dashboard", [], http, tmp_path).find_obstacle() == "does not answer yet"


def test_the_parts_of_a_run_know_of_the_certificate(tmp_path: Path) -> None:
    addresses = Addresses("127.0.0.1:1", "127.0.0.1:2", "0.0.0.0:3", "127.0.0.1:4", has_tls=True)
    urls = [part.url for part in build_parts(SITE, addresses, tmp_path)]
    assert urls == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:2",
        "https://127.0.0.1:3",
        "http://127.0.0.1:4",
    ]


def test_who_answers_in_its_place_is_not_taken_for_it(tmp_path: Path) -> None:
    watch = build(tmp_path)[0]
    with (
        serve_health(watch.http, CollectorRegistry(), lambda: None),
        pytest.raises(SettingsError, match=rf"answers at {watch.http}, .*\(watcher.http\)"),
    ):
        watch.launch()
    assert not watch.is_alive()


def test_no_part_comes_back_from_what_a_restart_does_not_mend(tmp_path: Path) -> None:
    parts = {part.name: part for part in build(tmp_path)}
    assert Fenced.exit_code in parts["watch"].policy.final_codes
    assert all(SettingsError.exit_code in part.policy.final_codes for part in parts.values())


def test_a_wrong_setting_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    ended = threading.Event()
    supervisor = Supervisor(Notes(), ended.set)
    product = Product(SITE, build(tmp_path), supervisor)
    product.launch("watch")
    try:
        assert ended.wait(30)
    finally:
        supervisor.stop()
        product.close()
    assert supervisor.error is not None
    assert supervisor.error.exit_code == SettingsError.exit_code
    assert "cluster = 'no/name'" in str(supervisor.error)
