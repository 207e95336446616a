from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from lab.ports import find_free_ports
from lab.zookeeper import ZooKeeperServer
from tests.watcher.zookeeper.reading import reading, writing
from watcher.messages import Request

PASSWORD = "for-tests-only"


def make_certificate(directory: Path) -> tuple[Path, Path]:
    """A key store for the server, and the PEM file by which a client trusts it."""
    store, pem = directory / "server.p12", directory / "ca.pem"
    common = ["-alias", "server", "-keystore", str(store), "-storepass", PASSWORD]
    generate = ["-genkeypair", "-keyalg", "EC", "-dname", "CN=localhost", "-storetype", "PKCS12"]
    subprocess.run(
        ["keytool", *generate, "-ext", "san=ip:127.0.0.1", *common], check=True, capture_output=True
    )
    subprocess.run(
        ["keytool", "-exportcert", "-rfc", "-file", str(pem), *common],
        check=True,
        capture_output=True,
    )
    return store, pem


@pytest.mark.integration
# kazoo leaves the socket of a failed TLS handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_everything_goes_through_tls(tmp_path: Path) -> None:
    store, pem = make_certificate(tmp_path)
    (port,) = find_free_ports(1)
    settings = {
        "secureClientPort": str(port),
        "secureClientPortAddress": "127.0.0.1",
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": str(store),
        "ssl.keyStore.password": PASSWORD,
        "ssl.trustStore.location": str(pem),
        "ssl.clientAuth": "none",
    }
    value = random.Random(2).randbytes(300_000)
    secure = f"127.0.0.1:{port}"
    with (
        ZooKeeperServer(settings=settings) as server,
        writing(server.connect_string) as writer,
        reading(secure, tls=True, tls_ca=str(pem)) as core,
        reading(secure, tls=True) as distrustful,
    ):
        writer.create("/large", value)
        core.wait_changes("connected")
        assert core.connected.recursive
        core.watch()
        replies = core.ask(*[Request("get", "/large")] * 20)
        assert {reply.data for reply in replies} == {value}
        for number in range(2_000):
            writer.create_async(f"/n{number}")
        writer.sync("/")
        core.wait(lambda: len(core.events) == 2_000)
        connection = core.session._connection
        assert connection is not None
        connection.cut()
        core.wait_changes("connected", "disconnected", "connected")
        distrustful.wait(lambda: "CERTIFICATE_VERIFY_FAILED" in distrustful.session.last_error)
        assert distrustful.changes == []
