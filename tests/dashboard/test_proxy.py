"""A reverse proxy logs people in: the recipe of docs/deploying.md, run; headers that are forged."""

from __future__ import annotations

import base64
import json
import re
import ssl
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from dashboard.options import Options
from dashboard.proxy import Proxy, ProxyOptions
from tests.dashboard.conftest import ADDRESS, open_client
from tests.dashboard.nginx_file import Recipe, run_nginx, run_small_proxy, write_recipe
from tests.dashboard.story_lake import CLUSTER
from tests.dashboard.test_dashboard_command import run
from tests.dashboard.test_tls import make_certificate
from zklake.errors import SettingsError
from zklake.settings.load import load_settings

DOCS = Path(__file__).parents[2] / "docs" / "deploying.md"
SECRET = "c4nary-proxy-secret"
USERS = {"ann": "ann-password", "bob": "bob-password"}
FORGED = {"x-zklake-user": "ann", "x-zklake-role": "analyst", "x-forwarded-for": "192.0.2.9"}


class Scene(NamedTuple):
    """The dashboard and the proxy before it."""

    proxy: str
    dashboard: str
    audit: Path
    said: Path
    trusted: ssl.SSLContext

    def ask(self, path: str, user: str = "", **headers: str) -> tuple[int, str]:
        if user:
            given = base64.b64encode(f"{user}:{USERS[user]}".encode()).decode()
            headers["authorization"] = f"Basic {given}"
        # The name of the recipe, by which a browser would come.
        return self._get(self.proxy + path, {"host": "zklake.example", **headers})

    def ask_directly(self, path: str, **headers: str) -> tuple[int, str]:
        return self._get(self.dashboard + path, headers)

    def _get(self, address: str, headers: dict[str, str]) -> tuple[int, str]:
        asked = urllib.request.Request(address, headers=headers)
        try:
            with urllib.request.urlopen(asked, timeout=60, context=self.trusted) as answer:
                is_stream = answer.headers["content-type"].startswith("text/event-stream")
                read = answer.readline if is_stream else answer.read
                return answer.status, read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture(scope="module", params=[run_nginx, run_small_proxy], ids=["nginx", "small-proxy"])
def scene(
    request: pytest.FixtureRequest, lake: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """`zklake dashboard` with the settings of the docs, and the proxy with the file of deploy/."""
    start: Callable[[Recipe], AbstractContextManager[str]] = request.param
    directory = tmp_path_factory.mktemp("proxy")
    (directory / "tls").mkdir()
    tls = make_certificate(directory / "tls")
    (directory / "proxy_secret").write_text(f"{SECRET}\n")
    (block,) = re.findall(r"```toml\n(\[dashboard\]\n.*?proxy_.*?)```", DOCS.read_text(), re.DOTALL)
    block = block.replace("/etc/zklake/proxy_secret", str(directory / "proxy_secret"))
    block += f'audit_log = "{directory}/audit.jsonl"\n'
    (directory / "zklake.toml").write_text(block)
    options = ["--lake", lake, "--cluster", CLUSTER, "--http", "127.0.0.1:0"]
    with (
        (directory / "said").open("w") as said,
        run(*options, "--config", str(directory / "zklake.toml"), stderr=said) as process,
    ):
        assert process.stdout is not None
        upstream = process.stdout.readline().strip().rstrip("/")
        recipe = write_recipe(directory, upstream, tls, USERS, SECRET)
        with start(recipe) as address:
            trusted = ssl.create_default_context(cafile=tls.cert)
            audit = directory / "audit.jsonl"
            yield Scene(address, upstream, audit, directory / "said", trusted)


def test_the_proxy_tells_people_apart(scene: Scene) -> None:
    assert scene.ask("/groups")[0] == 401
    status, page = scene.ask("/groups", "bob")
    assert status == 200
    assert "billing" in page
    assert 'href="/sql' not in page
    for path in ("/sql", "/sql?query=SELECT+1", "/api/sql?query=SELECT+1"):
        status, text = scene.ask(path, "bob")
        assert (status, "is for the role analyst" in text) == (403, True)
    assert 'href="/sql' in scene.ask("/groups", "ann")[1]
    assert json.loads(scene.ask("/api/sql?query=SELECT+1", "ann")[1])["rows"] == [[1]]
    assert scene.ask("/live?page=groups", "bob") == (200, "retry: 2000\n")
    assert scene.ask("/healthz", "bob") == (200, "alive\n")


def test_who_is_behind_the_proxy_cannot_be_somebody_else(scene: Scene) -> None:
    for name, value in FORGED.items():
        for spelt in (name, name.upper()):
            status, _ = scene.ask("/api/sql?query=SELECT+1", "bob", **{spelt: value})
            assert status == 403
    lines = [json.loads(line) for line in scene.audit.read_text().splitlines()]
    assert {(line["who"], line["role"], line["from"]) for line in lines} <= {
        ("user bob", "viewer", "127.0.0.1"),
        ("user ann", "analyst", "127.0.0.1"),
    }
    assert ["login", "proxy", "right"] in [
        [line[name] for name in ("event", "what", "outcome")] for line in lines
    ]
    assert "c4nary" not in scene.audit.read_text()


def test_who_goes_round_the_proxy_is_nobody(scene: Scene) -> None:
    """From the proxy's own address: only the secret tells them apart."""
    wrong = [{}, FORGED, {**FORGED, "x-zklake-proxy-secret": "c4nary-wrong"}]
    for headers in wrong:
        status, text = scene.ask_directly("/api/groups", **headers)
        assert (status, "reverse proxy" in text) == (401, True)
    assert scene.ask_directly("/healthz")[0] == 200
    right = {"x-zklake-proxy-secret": SECRET, "x-zklake-user": "bob"}
    assert scene.ask_directly("/api/groups", **right)[0] == 200
    said = scene.said.read_text()
    assert said.count("a proxy header was ignored") == 2
    assert "c4nary" not in said


def open_behind(lake: str, client: str, **options: str) -> TestClient:
    """A dashboard that believes 10.1.0.0/16, and somebody at that address."""
    proxy = ProxyOptions("X-User", ("10.1.0.0/16", "2001:db8::1"), "X-Groups", **options)  # type: ignore[arg-type]
    opened = open_client(Options(lake, CLUSTER, proxy=proxy, token="t0ken-of-all"))
    return TestClient(opened.app, base_url=ADDRESS, client=(client, 5))


@pytest.mark.parametrize(
    ("client", "status"),
    [
        ("10.1.2.3", 200),
        ("::ffff:10.1.2.3", 200),
        ("2001:db8::1", 200),
        ("10.2.0.1", 401),
        ("127.0.0.1", 401),
        ("2001:db8::2", 401),
        ("testclient", 401),
    ],
)
def test_a_header_counts_from_the_proxy_only(lake: str, client: str, status: int) -> None:
    with capture_logs() as logs:
        asked = open_behind(lake, client).get("/api/groups", headers={"X-User": "ann"})
    assert asked.status_code == status
    told = [(one["event"], one["address"]) for one in logs]
    assert told == ([] if status == 200 else [("a proxy header was ignored", client)])


def test_who_has_an_account_needs_no_proxy(lake: str) -> None:
    headers = {"X-User": "ann", "authorization": "Bearer t0ken-of-all"}
    assert open_behind(lake, "10.2.0.1").get("/api/groups", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "name", [b"", b" ", b"ann\x1b[31m", b"\xff\xfe", b"x" * 201, "a\u2028b".encode()], ids=ascii
)
def test_a_name_that_is_none_is_nobody(name: bytes) -> None:
    proxy = Proxy(ProxyOptions("X-User", ("10.1.0.0/16",)))
    assert proxy.find_user(Headers(raw=[(b"x-user", name)])) is None
    named = proxy.find_user(Headers(raw=[(b"x-user", " änn ".encode())]))
    assert named == ("user änn", "viewer")


def test_two_names_are_nobody_s(lake: str) -> None:
    headers = [("X-User", "ann"), ("X-User", "bob")]
    assert open_behind(lake, "10.1.2.3").get("/api/groups", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("groups", "role", "status"),
    [
        ([], "viewer", 403),
        ([], "analyst", 200),
        (["analyst"], "viewer", 200),
        (["staff, Analyst ,x"], "viewer", 200),
        (["staff"], "analyst", 403),
        (["analysts"], "viewer", 403),
        ([""], "analyst", 403),
        (["staff", "analyst"], "viewer", 403),
    ],
)
def test_the_role_is_the_proxy_s_word(lake: str, groups: list[str], role: str, status: int) -> None:
    headers = [("X-User", "ann"), *(("X-Groups", one) for one in groups)]
    client = open_behind(lake, "10.1.2.3", role=role)
    assert client.get("/api/sql", headers=headers).status_code == status


def test_the_address_is_the_last_that_the_proxy_names() -> None:
    proxy = Proxy(ProxyOptions("X-User", ("10.1.0.0/16",)))
    for given, wanted in [
        ("192.0.2.1, 198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, nonsense", "10.1.2.3"),
        ("", "10.1.2.3"),
    ]:
        assert proxy.find_address("10.1.2.3", Headers({"x-forwarded-for": given})) == wanted


def test_strangers_cannot_fill_the_log() -> None:
    times = iter([*[0.0] * 101, *[61.0] * 100])
    proxy = Proxy(ProxyOptions("X-User", ("10.1.0.0/16",)), lambda: next(times))
    with capture_logs() as logs:
        for _ in range(90):
            assert not proxy.is_trusted("192.0.2.1", Headers({"x-user": "ann"}))
        assert len(logs) == 60
        for _ in range(40):
            proxy.is_trusted("192.0.2.1", Headers({"x-user": "ann"}))
    assert len(logs) > 60


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"user_header": "X-User"}, "needs proxy_addresses"),
        ({"role_header": "X-Role"}, "only with proxy_user_header"),
        ({"addresses": "10.0.0.1"}, "only with proxy_user_header"),
        ({"user_header": "X User", "addresses": "10.0.0.1"}, "name of a header"),
        ({"user_header": "X-User", "addresses": "proxy.example"}, "addresses or networks"),
        ({"user_header": "X-User", "addresses": "0.0.0.0/0"}, "proxy_secret must be set"),
        ({"user_header": "X-User", "addresses": "::/0"}, "proxy_secret must be set"),
        ({"user_header": "X-User", "addresses": "10.0.0.1", "secret": "short"}, "12 characters"),
        ({"user_header": "X-User", "addresses": "10.0.0.1", "role": "admin"}, "proxy_role"),
    ],
)
def test_a_proxy_that_anybody_could_be_is_refused(given: dict[str, str], wanted: str) -> None:
    environ = {f"ZKLAKE_DASHBOARD__PROXY_{name.upper()}": text for name, text in given.items()}
    with pytest.raises(SettingsError, match=wanted):
        load_settings(environ=environ)


def test_a_proxy_opens_it_to_other_machines() -> None:
    environ = {
        "ZKLAKE_DASHBOARD__PROXY_USER_HEADER": "X-User",
        "ZKLAKE_DASHBOARD__PROXY_ADDRESSES": "10.0.0.1",
    }
    settings = load_settings(flags={"dashboard.http": "0.0.0.0:8080"}, environ=environ)
    assert str(settings.dashboard.http) == "0.0.0.0:8080"
