"""A ZooKeeper that serves nobody without SASL: DIGEST-MD5, as its own documentation sets it up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.security import make_acl

from lab.zookeeper import ZooKeeperServer
from tests.watcher.zookeeper.reading import writing
from tests.zklake.test_doctor_reach import look
from zklake.doctor.zookeeper import check_zookeeper

pytestmark = pytest.mark.integration
PASSWORD = "kanarienvogel-sasl"
JAAS = f"""Server {{
    org.apache.zookeeper.server.auth.DigestLoginModule required
    user_watcher="{PASSWORD}" user_owner="owner-password";
}};
"""
REQUIRED = {
    "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    "enforce.auth.enabled": "true",
    "enforce.auth.schemes": "sasl",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    """It holds a znode that only its owner and the watcher may read."""
    jaas = tmp_path_factory.mktemp("sasl") / "jaas.conf"
    jaas.write_text(JAAS)
    options = [f"-Djava.security.auth.login.config={jaas}"]
    login = {"mechanism": "DIGEST-MD5", "username": "owner", "password": "owner-password"}
    with ZooKeeperServer(settings=REQUIRED, jvm_options=options) as server:
        with writing(server.connect_string, sasl_options=login) as owner:
            acl = [make_acl("sasl", "owner", all=True), make_acl("sasl", "watcher", read=True)]
            owner.create("/controller_epoch", b"7", acl=acl)
        yield server


def run(
    server: ZooKeeperServer, state: Path, *arguments: str, **sasl: str
) -> subprocess.CompletedProcess[str]:
    """A command that is given SASL by variables."""
    given = {f"ZKLAKE_ZOOKEEPER__SASL_{name.upper()}": value for name, value in sasl.items()}
    return subprocess.run(
        [sys.executable, "-m", "zklake", *arguments, "--zookeeper", server.connect_string],
        env={**os.environ, **given, "XDG_STATE_HOME": str(state)},
        cwd=state,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


WATCH = ("watch", "--once", "--dry-run")
WATCHER = {"mechanism": "DIGEST-MD5", "username": "watcher", "password": PASSWORD}


def test_the_watcher_reads_what_only_its_name_may_read(
    server: ZooKeeperServer, tmp_path: Path
) -> None:
    done = run(server, tmp_path, *WATCH, **WATCHER)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    (epoch,) = [event for event in events if event.get("path") == "/controller_epoch"]
    assert (epoch["op"], epoch["data"]) == ("read", "7")
    assert PASSWORD not in done.stdout + done.stderr


@pytest.mark.parametrize("login", [{}, WATCHER | {"password": "kanarienvogel-wrong"}])
def test_without_it_nothing_is_seen_and_that_is_said(
    server: ZooKeeperServer, tmp_path: Path, login: dict[str, str]
) -> None:
    (tmp_path / "zklake.toml").write_text("[watcher]\nonce_patience_s = 5\n")
    done = run(server, tmp_path, *WATCH, **login)
    assert done.returncode != 0
    assert "ZooKeeper was away for 5 s" in done.stderr
    assert "refused our credentials" in done.stderr
    assert "controller_epoch" not in done.stdout
    assert "kanarienvogel" not in done.stdout + done.stderr


def test_the_doctor_tells_a_right_login_from_a_wrong_one(server: ZooKeeperServer) -> None:
    right = {f"sasl_{name}": value for name, value in WATCHER.items()}
    finding = look(check_zookeeper, server.connect_string, login=right, wait_s=30)
    assert finding.state == "ok", finding
    none = look(check_zookeeper, server.connect_string, wait_s=10)
    assert (none.state, "asks for SASL" in none.fix) == ("fail", True), none
    wrong = right | {"sasl_password": "kanarienvogel-no"}
    finding = look(check_zookeeper, server.connect_string, login=wrong, wait_s=10)
    assert (finding.state, "sasl_password" in finding.fix) == ("fail", True), finding
    assert "kanarienvogel" not in str(finding)
