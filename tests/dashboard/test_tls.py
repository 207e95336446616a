"""HTTPS with a certificate that is made here."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest

from dashboard.connection import ConnectionLimits
from dashboard.options import Options
from dashboard.server import Server
from dashboard.tls import Tls, check_tls
from tests.dashboard.serving import serve
from tests.dashboard.sockets import is_closed, open_many, open_socket, wait_for
from tests.dashboard.story_lake import CLUSTER
from tests.dashboard.test_dashboard_command import run
from zklake.errors import SettingsError
from zklake.settings.load import load_settings


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def make_certificate(directory: Path, *more: str) -> Tls:
    if shutil.which("openssl") is None:
        pytest.skip("NO TLS TESTS: openssl is missing (Debian: apt-get install openssl)")
    made = Tls(str(directory / "cert.pem"), str(directory / "key.pem"))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2"
    options = ["-subj", "/CN=zklake", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", made.key, "-out", made.cert]
    subprocess.run(
        [*command.split(), *options, *files, *(more or ["-nodes"])], check=True, capture_output=True
    )
    return made


def get(address: str, tls: Tls) -> str:
    trusted = ssl.create_default_context(cafile=tls.cert)
    with urllib.request.urlopen(address, timeout=60, context=trusted) as answer:
        return str(answer.read().decode())


def test_pages_are_answered_by_https(lake: str, tls: Tls) -> None:
    with serve(Options(lake, CLUSTER), tls=tls) as address:
        assert get(f"{address}/healthz", tls) == "alive\n"
        assert "billing" in get(f"{address}/api/groups", tls)
        with open_socket(address, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as plain:
            assert wait_for(lambda: is_closed(plain))


def test_who_does_not_shake_hands_is_cut_off(lake: str, tls: Tls) -> None:
    with (
        serve(Options(lake, CLUSTER), ConnectionLimits(head_s=2), tls=tls) as address,
        open_many(address, 300) as opened,
    ):
        assert wait_for(lambda: all(map(is_closed, opened)))
        assert get(f"{address}/healthz", tls) == "alive\n"


def test_the_command_serves_https(lake: str, tls: Tls, tmp_path: Path) -> None:
    (tmp_path / "zklake.toml").write_text(
        f'[dashboard]\ntls_cert = "{tls.cert}"\ntls_key = "{tls.key}"\n'
    )
    options = ["--lake", lake, "--cluster", CLUSTER, "--http", "127.0.0.1:0"]
    with run(*options, "--config", str(tmp_path / "zklake.toml")) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("https://127.0.0.1:")
        assert get(f"{address}healthz", tls) == "alive\n"


def test_files_that_cannot_be_used_are_said(tls: Tls, tmp_path: Path) -> None:
    locked = make_certificate(tmp_path, "-passout", "pass:c4nary-secret")
    wrong = [
        Tls("/nowhere/cert.pem", tls.key),
        Tls(tls.cert, "/nowhere/key.pem"),
        Tls(tls.cert, tls.cert),
        Tls(tls.cert, locked.key),
        locked,
    ]
    for one in wrong:
        with pytest.raises(SettingsError, match=r"dashboard\.tls_cert .*: cannot be used \(.+\)"):
            check_tls(one)


def test_a_server_with_files_of_others_does_not_start(lake: str) -> None:
    with pytest.raises(SettingsError, match="cannot be used"):
        Server(None, tls=Tls("/nowhere", "/nowhere"))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tls_cert", "tls_key"])
def test_certificate_and_key_belong_together(name: str) -> None:
    with pytest.raises(SettingsError, match="tls_cert and tls_key belong together"):
        load_settings(environ={f"ZKLAKE_DASHBOARD__{name.upper()}": "/x.pem"})
