"""A cluster behind TLS, SCRAM, an authorizer and digest ACLs, and a pipeline with keys to it."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)
from confluent_kafka.cimpl import NewTopic
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError
from kazoo.security import make_digest_acl

from lab.kafka import KafkaBroker
from lab.ports import find_free_ports
from lab.zookeeper import ZooKeeperServer
from tests.watcher.watching import wait_for
from zklake.supervision.child_process import ChildProcess

# Every secret contains it, and nothing else does.
SIGN = "kanarienvogel"
PATIENCE_S = 900.0


def secret(name: str) -> str:
    """A canary; at least as long as a password must be."""
    return f"{SIGN}-{name}"


# What the hostile trial put into configs (M2 of issue 21), and what Kafka itself keeps there.
CONFIGS = {
    "basic.auth.user.info": f"admin:{secret('basic')}",
    "my.plugin.settings": json.dumps({"password": secret("json")}),
    "my.header": f"Bearer {secret('bearer')}",
    "confluent.license": secret("license"),
    "azure.account.key": secret("azure"),
    "signing.key": secret("signing"),
    "authorization": secret("authorization"),
    "ldap.bind.pw": secret("ldap"),
    "my.connection": f"Endpoint=sb://h/;SharedAccessKey={secret('shared')}",
    "my.query": f"http://h/?api_key={secret('api')}",
    "my.words": f"passphrase={secret('passphrase')}",
    "my.address": f"https://{secret('address')}@h/",
    "my.hook": f"https://hooks.slack.com/services/T0/B0/{secret('hook')}",
    "sasl.jaas.config": (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="u" password="{secret("jaas")}";'
    ),
    "listener.name.internal.ssl.key.password": secret("tls"),
    "ssl.keystore.password": secret("dynamic"),
    "retention.ms": "1000",
}
USERS = {name: secret(f"scram-{name}") for name in ("watcher", "sampler", "stream")}
CLUSTER = "secured"
DIGEST = f"watcher:{secret('digest')}"


class SecuredCluster:
    """ZooKeeper, a broker and what stands in them; clients come by SASL_SSL."""

    def __init__(self, zookeeper: ZooKeeperServer, broker: KafkaBroker, address: str, ca: Path):
        self.zookeeper, self.broker, self.address, self._ca = zookeeper, broker, address, ca
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        self.owner = KazooClient(zookeeper.connect_string)
        self.owner.start()
        self.owner.add_auth("digest", "owner:owner-password")

    def login(self, user: str) -> dict[str, str]:
        """The client options of one of our users."""
        return {
            "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": USERS[user],
            "ssl.ca.location": str(self._ca),
        }

    def fill(self) -> None:
        """Users, a topic with records and commits, and secrets in every place that has some."""
        known = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        users: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(name, known, password.encode())
            for name, password in {**USERS, "alice": secret("alice")}.items()
        ]
        for future in self.admin.alter_user_scram_credentials(users).values():
            future.result(60)
        self.allow(list_acls(CLUSTER))
        self.admin.create_topics([NewTopic("orders", 2, 1)])["orders"].result(60)
        self.produce(100)
        config = json.dumps({"version": 1, "config": CONFIGS})
        self.put("/config/topics/orders", config)
        self.put("/config/brokers/0", config)
        scram = f"salt={secret('salt')},stored_key={secret('stored')},iterations=4096"
        self.put(
            "/config/users/bob", json.dumps({"version": 1, "config": {"SCRAM-SHA-512": scram}})
        )
        token = {
            "version": 1,
            "owner": "User:a",
            "hmac": secret("hmac"),
            "tokenId": secret("token"),
        }
        self.put(f"/delegation_token/tokens/{secret('token')}", json.dumps(token))
        self.put("/elsewhere/app", secret("elsewhere"))

    def allow(self, acls: Sequence[AclBinding]) -> None:
        for made in self.admin.create_acls([*acls]).values():
            made.result(60)

    def put(self, path: str, data: str) -> None:
        """A znode that only its owner and the watcher can read."""
        acl = [
            make_digest_acl("owner", "owner-password", all=True),
            make_digest_acl(*DIGEST.split(":", 1), read=True),
        ]
        self.owner.ensure_path(path.rpartition("/")[0])
        try:
            self.owner.create(path, data.encode(), acl=acl)
        except NodeExistsError:
            self.owner.set(path, data.encode())
            self.owner.set_acls(path, acl)

    def produce(self, count: int) -> None:
        """Records, and a commit of a group that has read half of them."""
        options = {"bootstrap.servers": self.broker.bootstrap, "log_level": 0}
        producer = Producer(options)
        for number in range(count):
            producer.produce("orders", b"x", partition=number % 2)
        assert producer.flush(60) == 0
        consumer = Consumer({**options, "group.id": "billing"})
        try:
            offsets = [TopicPartition("orders", partition, count // 4) for partition in (0, 1)]
            consumer.commit(offsets=offsets, asynchronous=False)
        finally:
            consumer.close()


def list_acls(cluster: str) -> list[AclBinding]:
    """What docs/operations.md says that our users need, and nothing else."""
    text = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    rows = re.findall(r"^\| (\w+) \(`\w+\.client`\) \| ([\w ]+) \| `(\S+)` \| (.+) \|$", text, re.M)
    assert {row[0] for row in rows} == set(USERS)
    return [
        AclBinding(
            ResourceType[resource.replace(" ", "_").upper()],
            name.replace("<cluster>", cluster),
            ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        for user, resource, name, operations in rows
        for operation in operations.split(", ")
    ]


@contextmanager
def secured_cluster(directory: Path) -> Iterator[SecuredCluster]:
    """One broker: a PLAINTEXT listener for itself and its admins, SASL_SSL for everybody else."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=zklake"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True, cwd=directory)
    store, ca = directory / "both.pem", directory / "cert.pem"
    store.write_text((directory / "key.pem").read_text() + ca.read_text())
    address = f"127.0.0.1:{find_free_ports(1)[0]}"
    settings = {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }
    with ExitStack() as servers:
        zookeeper = servers.enter_context(ZooKeeperServer())
        broker = KafkaBroker(zookeeper.connect_string, settings=settings)
        broker.settings["listeners"] = f"PLAINTEXT://{broker.address},SASL_SSL://{address}"
        servers.enter_context(broker)
        cluster = SecuredCluster(zookeeper, broker, address, ca)
        servers.callback(cluster.owner.close)
        servers.callback(cluster.owner.stop)
        cluster.fill()
        yield cluster


class SecuredPipeline:
    """Every process of the product, with its own log file below one directory."""

    def __init__(self, cluster: SecuredCluster, directory: Path) -> None:
        self.cluster, self.place = cluster, directory / "place"
        self.place.mkdir()
        watch, stream, pages = (f"127.0.0.1:{port}" for port in find_free_ports(3))
        self.http = {"watch": watch, "stream": stream, "dashboard": pages}
        self.password, self.token = secret("dashboard-password"), secret("dashboard-token")
        # The stream is somebody else to Kafka: it may only read.
        self.configs = {name: directory / f"{name}.toml" for name in ("watcher", "stream")}
        for name, path in self.configs.items():
            path.write_text(self.describe(CLUSTER, name))
        self.processes: dict[str, ChildProcess] = {}

    def describe(self, cluster: str, user: str) -> str:
        """The settings' file of one user."""
        client, watched = (
            "\n".join(f'"{name}" = "{value}"' for name, value in self.cluster.login(one).items())
            for one in (user, "sampler")
        )
        return f"""
cluster = "{cluster}"
[zookeeper]
connect = "{self.cluster.zookeeper.connect_string}"
digest = "{DIGEST}"
[log]
bootstrap = "{self.cluster.address}"
[log.client]
{client}
[watched.client]
{watched}
[lake]
path = "{self.place}/lake"
[watcher]
http = "{self.http["watch"]}"
sample_interval_s = 1
once_patience_s = 30
[stream]
http = "{self.http["stream"]}"
checkpoint = "{self.place}/checkpoints"
task_records = 100
[dashboard]
http = "{self.http["dashboard"]}"
password = "{self.password}"
token = "{self.token}"
audit_log = "{self.place}/audit.jsonl"
watcher_http = "{self.http["watch"]}"
stream_http = "{self.http["stream"]}"
[alerts]
journal = "{self.place}/journal.sqlite"
[[alerts.notifiers]]
by = "webhook"
url = "http://127.0.0.1:9/{secret("webhook")}"
headers = {{ Authorization = "{secret("webhook-header")}" }}
"""

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.place / "state")}

    def _command(self, *arguments: str, config: str | None = None) -> list[str]:
        chosen = self.configs[config or ("stream" if arguments[0] == "stream" else "watcher")]
        return [sys.executable, "-m", "zklake", *arguments, "--config", str(chosen)]

    def run(self, *arguments: str, config: str | None = None) -> subprocess.CompletedProcess[str]:
        """One command to its end; what it said lies beside the other logs."""
        done = subprocess.run(
            self._command(*arguments, config=config),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            env=self.environment,
        )
        (self.place / f"{'-'.join(arguments[:2])}.log").write_text(done.stdout + done.stderr)
        return done

    def start(self, *arguments: str) -> None:
        """One that stays."""
        name = arguments[0]
        self.processes[name] = ChildProcess(
            ["env", f"XDG_STATE_HOME={self.place / 'state'}", *self._command(*arguments)],
            self.place / f"{name}.log",
        )

    def wait_until_ready(self, name: str) -> None:
        path = "/readyz" if name != "dashboard" else "/healthz"
        wait_for(f"{name} to be ready", lambda: self.get(name, path)[0] == 200, PATIENCE_S)

    def get(
        self, name: str, path: str, headers: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """(status, text) of a page; (0, why) when nobody answers."""
        request = urllib.request.Request(
            f"http://{self.http[name]}{path}", headers=dict(headers or {})
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def open_page(self, path: str) -> tuple[int, str]:
        """A page of the dashboard, with the password."""
        login = base64.b64encode(f"zklake:{self.password}".encode()).decode()
        return self.get("dashboard", path, {"Authorization": f"Basic {login}"})

    def query(self, sql: str) -> list[dict[str, Any]]:
        from delta_tables import reading

        return reading.read_rows(f"{self.place}/lake", CLUSTER, sql)

    def stop(self) -> None:
        for process in self.processes.values():
            process.stop(60)
