from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lab.kafka import KafkaBroker
from lab.ports import find_free_ports
from lab.zookeeper import ZooKeeperServer
from streaming.daemon import run_once
from streaming.query import Stream
from tests.streaming.story import Story
from tests.streaming.topic import Topic

PASSWORD = 'can"ary\\7f3a'


@pytest.fixture
def identity(tmp_path: Path) -> Path:
    """One self-signed certificate: it is the CA, the broker and the client."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=zklake"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True, cwd=tmp_path)
    both = (tmp_path / "key.pem").read_text() + (tmp_path / "cert.pem").read_text()
    (tmp_path / "both.pem").write_text(both)
    return tmp_path


@pytest.fixture
def secured(
    zookeeper: ZooKeeperServer, chroot: str, identity: Path
) -> Iterator[tuple[KafkaBroker, str]]:
    address = f"127.0.0.1:{find_free_ports(1)[0]}"
    escaped = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    # A backslash of server.properties is written twice.
    login = (
        f'org.apache.kafka.common.security.plain.PlainLoginModule required user_reader="{escaped}";'
    ).replace("\\", "\\\\")
    store = str(identity / "both.pem")
    settings = {
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": login,
        "listener.name.sasl_ssl.ssl.client.auth": "required",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": store,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(identity / "cert.pem"),
    }
    broker = KafkaBroker(zookeeper.connect_string + chroot, settings=settings)
    broker.settings["listeners"] = f"PLAINTEXT://{broker.address},SASL_SSL://{address}"
    with broker:
        yield broker, address


@pytest.mark.spark
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore:unclosed <socket")
def test_a_log_behind_tls_and_a_password(
    spark: SparkSession,
    secured: tuple[KafkaBroker, str],
    identity: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    broker, address = secured
    topic = Topic(broker.bootstrap)
    topic.write(Story().register(1, czxid=10).events)
    client = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "reader",
        "sasl.password": PASSWORD,
        "ssl.ca.location": str(identity / "cert.pem"),
        "ssl.certificate.location": str(identity / "cert.pem"),
        "ssl.key.location": str(identity / "key.pem"),
    }
    stream = Stream(address, topic.name, "c", str(tmp_path / "lake"), client=client)
    assert run_once(spark, stream).events == 2
    out, err = capfd.readouterr()
    key = (identity / "key.pem").read_text().splitlines()[1]
    for secret in (PASSWORD, 'can\\"ary', key):
        assert secret not in out + err
