"""ZooKeeper and Kafka, seen by the doctor: there or not, secured or not."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.zklake.jar_files import make_lock
from zklake.doctor import Finding, Subject
from zklake.doctor.kafka import check_log, check_watched
from zklake.doctor.zookeeper import check_zookeeper
from zklake.jars.cache import JarCache
from zklake.settings.models import LogSettings, WatchedSettings, ZooKeeperSettings
from zklake.settings.values import ClientOptions

Check = Callable[[Subject], list[Finding]]


def look(
    check: Check,
    address: str,
    client: Mapping[str, str] | None = None,
    login: Mapping[str, object] | None = None,
    wait_s: float = 0.3,
) -> Finding:
    """The finding, with these options for Kafka or these settings of ZooKeeper."""
    options = ClientOptions(client or {})
    subject = Subject(
        JarCache(Path("unused"), make_lock()),
        zookeeper=ZooKeeperSettings.model_validate({"connect": address, **(login or {})}),
        log=LogSettings(bootstrap=address.partition("/")[0], client=options),
        watched=WatchedSettings(bootstrap=address.partition("/")[0], client=options),
        wait_s=wait_s,
    )
    (finding,) = check(subject)
    return finding


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One self-signed certificate, and the CA that signed it is itself."""
    directory = tmp_path_factory.mktemp("identity")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=zklake"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True, cwd=directory)
    return directory


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does `answer` with each connection, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(60)


@contextmanager
def speaking_tls(identity: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity / "cert.pem", identity / "key.pem")

    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(4)
            secured.sendall(b"Zookeeper version: 3.9.3-x, built\nMode: standalone\n")

    with answering(answer) as address:
        yield address


@pytest.mark.parametrize("check", [check_zookeeper, check_log, check_watched])
def test_nobody_there(check: Check) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        finding = look(check, address)
    assert finding.state == "fail"
    assert finding.found == f"{address} does not answer: Connection refused"
    assert finding.fix.startswith("start ")


@pytest.mark.parametrize("check", [check_zookeeper, check_log])
def test_a_silent_server_fails_in_time(check: Check) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        finding = look(check, address)
    assert time.monotonic() - started < 60
    assert finding.state == "fail"
    assert f"{address} accepts connections but does not answer" in finding.found


def test_one_of_two_is_enough_to_say_which_is_dead() -> None:
    with socket.socket() as probe, answering(lambda connection: None) as address:
        probe.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{probe.getsockname()[1]}"
        finding = look(check_zookeeper, f"{dead},{address}")
    assert f"{dead} does not answer" in finding.found
    assert f"{address} answers but refuses the client" in finding.found


def test_a_zookeeper_that_wants_tls(identity: Path) -> None:
    with speaking_tls(identity) as address:
        finding = look(check_zookeeper, address)
    assert finding.state == "fail"
    # It waits for the rest of a handshake.
    assert finding.found == f"{address} accepts connections but does not answer"
    assert "zookeeper.tls = true" in finding.fix


def test_a_zookeeper_whose_certificate_we_do_not_trust(identity: Path) -> None:
    with speaking_tls(identity) as address:
        finding = look(check_zookeeper, address, login={"tls": True})
    assert finding.state == "fail"
    assert (
        f"{address} answers but refuses the client: its certificate is not valid" in finding.found
    )
    assert "zookeeper.ca_file" in finding.fix


def test_tls_files_that_are_not_there(tmp_path: Path) -> None:
    finding = look(
        check_zookeeper, "127.0.0.1:1", login={"tls": True, "ca_file": tmp_path / "no.pem"}
    )
    assert finding.state == "fail"
    assert finding.found == "the files for TLS cannot be used: No such file or directory"


def test_a_broker_that_wants_tls(identity: Path) -> None:
    with speaking_tls(identity) as address:
        finding = look(check_log, address, {"security.protocol": "PLAINTEXT"})
    assert finding.state == "fail"
    assert f"{address} answers but refuses the client" in finding.found
    assert "log.client" in finding.fix


def test_a_broker_whose_certificate_we_do_not_trust(identity: Path) -> None:
    with speaking_tls(identity) as address:
        finding = look(check_watched, address, {"security.protocol": "SSL"})
    assert finding.state == "fail"
    assert "answers but refuses the client" in finding.found
    assert "certificate" in finding.found
    assert "watched.client" in finding.fix


def test_options_that_no_client_takes() -> None:
    with answering(lambda connection: None) as address:
        finding = look(check_log, address, {"sasl.nonsense": "1"})
    assert finding.state == "fail"
    assert "sasl.nonsense" in finding.found
    assert "log.client" in finding.fix


@pytest.fixture(scope="module")
def secured(identity: Path) -> Iterator[tuple[str, str]]:
    """A ZooKeeper that speaks TLS, and a broker that speaks TLS and asks for a password."""
    from lab.kafka import KafkaBroker
    from lab.ports import find_free_ports
    from lab.zookeeper import ZooKeeperServer

    zookeeper_port, broker_port = find_free_ports(2)
    store = identity / "both.pem"
    store.write_text((identity / "key.pem").read_text() + (identity / "cert.pem").read_text())
    stores = {
        "ssl.keyStore.location": str(store),
        "ssl.keyStore.type": "PEM",
        "ssl.trustStore.location": str(identity / "cert.pem"),
        "ssl.trustStore.type": "PEM",
    }
    server = ZooKeeperServer(
        settings={
            "secureClientPort": str(zookeeper_port),
            "secureClientPortAddress": "127.0.0.1",
            "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
            "ssl.clientAuth": "need",
            **stores,
        }
    )
    login = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required user_reader=opensesame;"
    )
    with server:
        broker = KafkaBroker(
            server.connect_string,
            settings={
                "inter.broker.listener.name": "PLAINTEXT",
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.sasl_ssl.plain.sasl.jaas.config": login,
                **{key.lower(): value for key, value in stores.items()},
            },
        )
        address = f"127.0.0.1:{broker_port}"
        broker.settings["listeners"] = f"PLAINTEXT://{broker.address},SASL_SSL://{address}"
        with broker:
            yield f"127.0.0.1:{zookeeper_port}", address


@pytest.mark.integration
def test_a_secured_zookeeper(secured: tuple[str, str], identity: Path) -> None:
    address = secured[0]
    ours: dict[str, object] = {"tls": True, "ca_file": identity / "cert.pem"}
    known: dict[str, object] = {
        "cert_file": identity / "cert.pem",
        "key_file": identity / "key.pem",
    }
    finding = look(check_zookeeper, f"{address}/brokers", login=ours | known, wait_s=20)
    assert (finding.state, finding.found) == ("ok", f"{address}: 3.9.3 standalone")
    finding = look(check_zookeeper, address, login=ours, wait_s=20)
    assert finding.state == "fail"
    assert f"{address} answers but refuses the client" in finding.found
    assert "cert_file" in finding.fix
    assert "zookeeper.tls = true" in look(check_zookeeper, address).fix


@pytest.mark.integration
def test_a_secured_zookeeper_and_its_acls(
    secured: tuple[str, str], identity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kazoo.client import KazooClient
    from kazoo.security import make_digest_acl

    address, key, pem = secured[0], str(identity / "key.pem"), str(identity / "cert.pem")
    writer = KazooClient(address, use_ssl=True, ca=pem, certfile=pem, keyfile=key)
    writer.start()
    writer.create("/closed", acl=[make_digest_acl("me", "opensesame", all=True)])
    writer.stop()
    writer.close()
    ours: dict[str, object] = {"tls": True, "ca_file": pem, "cert_file": pem, "key_file": key}
    chroot = f"{address}/closed"
    right, wrong = {"digest": "me:opensesame"}, {"digest": "me:wrong"}
    assert look(check_zookeeper, chroot, login=ours | right, wait_s=20).state == "ok"
    finding = look(check_zookeeper, chroot, login=ours | wrong, wait_s=20)
    assert finding.state == "fail"
    assert "it answers but refuses the client: /closed is not readable" in finding.found
    assert "zookeeper.digest" in finding.fix
    kerberos = ours | {"sasl_mechanism": "GSSAPI"}
    finding = look(check_zookeeper, chroot, login=kerberos, wait_s=20)
    assert (finding.state, finding.fix) == ("fail", "pip install kerberos")
    monkeypatch.setattr("zklake.zookeeper_sasl.find_spec", lambda name: None)
    assert look(check_zookeeper, chroot, login=kerberos).fix == "pip install 'zklake[sasl]'"


@pytest.mark.integration
def test_a_secured_broker(secured: tuple[str, str], identity: Path) -> None:
    address = secured[1]
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "reader",
        "sasl.password": "opensesame",
        "ssl.ca.location": str(identity / "cert.pem"),
    }
    finding = look(check_log, address, client, wait_s=20)
    assert (finding.state, finding.found) == ("ok", f"{address}: brokers [0], 0 topics")
    for wrong in ({"sasl.password": "no"}, {"security.protocol": "PLAINTEXT"}):
        finding = look(check_log, address, client | wrong, wait_s=2)
        assert finding.state == "fail"
        assert f"{address} answers but refuses the client" in finding.found
        assert "log.client" in finding.fix


@pytest.mark.integration
@pytest.mark.parametrize("version", ["3.9.3", "3.4.10"])
def test_how_a_real_server_refuses_a_word(version: str) -> None:
    """These two answer srvr whatever is allowed; the refusal is the same for any word."""
    from lab.zookeeper import ZooKeeperServer

    with ZooKeeperServer(version=version, settings={"4lw.commands.whitelist": "ruok"}) as server:
        refusal = server.ask("envi").encode()
    assert b"envi is not executed" in refusal

    def refuse(connection: socket.socket) -> None:
        connection.recv(4)
        connection.sendall(refusal)

    with answering(refuse) as address:
        finding = look(check_zookeeper, address, wait_s=20)
    assert finding.found.startswith(f"{address}: srvr not allowed"), finding
