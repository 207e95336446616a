"""Only values of keys that Kafka defines as no secrets leave; the cases are those of a trial."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zklake.events.paths import classify
from zklake.events.redaction import Redactor, Sealed

CANARY = "c4n4ry-7f3a"
MASK = "[redacted]"
REDACTOR = Redactor(b"key of this installation")

PATHS = {
    "topic": "/config/topics/t",
    "broker": "/config/brokers/1",
    "all brokers": "/config/brokers/<default>",
    "client": "/config/clients/c",
    "user": "/config/users/alice",
    "user's client": "/config/users/alice/clients/c",
    "ip": "/config/ips/10.0.0.1",
}
LEAKS = {
    "basic.auth.user.info": f"admin:{CANARY}",
    "some.settings": json.dumps({"password": CANARY}),
    "header": f"Bearer {CANARY}",
    "confluent.license": CANARY,
    "azure.account.key": CANARY,
    "signing.key": CANARY,
    "authorization": CANARY,
    "ldap.bind.pw": CANARY,
    "connection.string": f"Endpoint=sb://h/;SharedAccessKey={CANARY}",
    "query": f"api_key={CANARY}",
    "options": f"passphrase={CANARY}",
    "mirror.url": f"https://{CANARY}@host/",
    "alerts": f"https://hooks.slack.com/services/T0/B0/{CANARY}",
    "alerts.discord": f"https://discord.com/api/webhooks/1/{CANARY}",
    "alerts.teams": f"https://x.webhook.office.com/webhookb2/{CANARY}",
    "innocent": CANARY,
    "sasl.pasword": CANARY,
    "listener.name.x.plain.sasl.jaas.config": CANARY,
    "listener.name.x.innocent": CANARY,
    "ssl.keystore.location": f"/keys/{CANARY}",
    "listeners": f"PLAIN://{CANARY}:9092",
    "metric.reporters": CANARY,
    "retention.ms": CANARY,
    "log.retention.ms": f"1{CANARY}",
    "cleanup.policy": CANARY,
    "compression.type": f"gzip {CANARY}",
    "leader.replication.throttled.replicas": f"0:1,{CANARY}",
    "unclean.leader.election.enable": CANARY,
    "producer_byte_rate": CANARY,
    "message.format.version": CANARY,
}
# What Kafka lets one set, in its own words.
TOPIC = {
    "retention.ms": "-1",
    "retention.bytes": "1073741824",
    "cleanup.policy": "compact,delete",
    "min.insync.replicas": "2",
    "max.message.bytes": "1048588",
    "leader.replication.throttled.replicas": "0:1,1:2,2:3",
    "follower.replication.throttled.replicas": "*",
    "compression.type": "zstd",
    "compression.zstd.level": "-5",
    "unclean.leader.election.enable": "false",
    "min.cleanable.dirty.ratio": "0.5",
    "message.timestamp.type": "LogAppendTime",
    "message.format.version": "2.8-IV1",
    "remote.storage.enable": "true",
    "local.retention.ms": "-2",
}
BROKER = {
    "log.cleaner.threads": "2",
    "num.io.threads": "16",
    "num.network.threads": "8",
    "log.retention.ms": "604800000",
    "log.cleanup.policy": "delete",
    "log.cleaner.io.max.bytes.per.second": "1.7976931348623157E308",
    "leader.replication.throttled.rate": "1000000",
    "follower.replication.throttled.rate": "1000000",
    "replica.alter.log.dirs.io.max.bytes.per.second": "9223372036854775807",
    "max.connections": "1000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "true",
    "compression.type": "producer",
    "log.message.timestamp.type": "CreateTime",
    "listener.name.internal.max.connections": "100",
    "listener.name.internal.ssl.client.auth": "required",
    "listener.name.internal.scram-sha-256.connections.max.reauth.ms": "3600000",
}
QUOTAS = {
    "producer_byte_rate": "1048576",
    "consumer_byte_rate": "2097152.0",
    "request_percentage": "12.5",
    "controller_mutation_rate": "1.0E7",
}
HARMLESS = {
    "topic": TOPIC,
    "broker": BROKER,
    "all brokers": BROKER,
    "client": QUOTAS,
    "user": QUOTAS,
    "user's client": QUOTAS,
    "ip": {"connection_creation_rate": "100"},
}


def write(entries: dict[str, str]) -> bytes:
    return json.dumps({"version": 1, "config": entries}).encode()


def seal(whose: str, data: bytes, redactor: Redactor = REDACTOR) -> Sealed:
    path = PATHS[whose]
    return redactor.seal(path, classify(path).kind, data)


def published(whose: str, entries: dict[str, str], redactor: Redactor = REDACTOR) -> Any:
    data = seal(whose, write(entries), redactor).data
    return None if data is None else json.loads(data)["config"]


@pytest.mark.parametrize("whose", PATHS)
@pytest.mark.parametrize("key", LEAKS)
def test_what_kafka_does_not_define_is_masked(whose: str, key: str) -> None:
    sealed = seal(whose, write({key: LEAKS[key]}))
    assert sealed.fidelity == "redacted"
    assert CANARY.encode() not in (sealed.data or b"")
    assert json.loads(sealed.data or b"{}")["config"] == {key: MASK}
    changed = seal(whose, write({key: LEAKS[key] + "2"}))
    assert changed.data_hash != sealed.data_hash


@pytest.mark.parametrize(
    ("whose", "key"), [(whose, key) for whose, keys in HARMLESS.items() for key in keys]
)
def test_what_kafka_defines_as_no_secret_is_shown(whose: str, key: str) -> None:
    data = write({key: HARMLESS[whose][key]})
    assert seal(whose, data)[:2] == (data, "exact")


def test_entries_are_judged_one_by_one() -> None:
    assert published("topic", {"retention.ms": "1", "azure.account.key": "x"}) == {
        "retention.ms": "1",
        "azure.account.key": MASK,
    }


def test_each_entity_has_a_list_of_its_own() -> None:
    assert published("topic", {"num.io.threads": "8"}) == {"num.io.threads": MASK}
    assert published("broker", {"retention.ms": "8"}) == {"retention.ms": MASK}
    assert published("client", {"retention.ms": "8"}) == {"retention.ms": MASK}
    assert published("ip", {"producer_byte_rate": "8"}) == {"producer_byte_rate": MASK}
    assert published("user", {"connection_creation_rate": "8"}) == {
        "connection_creation_rate": MASK
    }


@pytest.mark.parametrize(
    "key",
    [
        f"https://{CANARY}@host/",
        f"password={CANARY}",
        f"{CANARY} with spaces",
        "x" * 300 + CANARY,
    ],
)
def test_a_name_that_is_no_config_key_is_masked_too(key: str) -> None:
    assert published("broker", {key: "1"}) == {MASK: MASK}


@pytest.mark.parametrize("whose", PATHS)
@pytest.mark.parametrize(
    "data",
    [
        f'{{"version":1,"config":{{"retention.ms":["{CANARY}"]}}}}',
        f'{{"version":1,"config":{{"retention.ms":{{"a":"{CANARY}"}}}}}}',
        f'{{"version":1,"config":{{}},"beside":"{CANARY}"}}',
        f'{{"version":7,"config":{{"retention.ms":"{CANARY}"}}}}',
        f'{{"retention.ms":"{CANARY}"}}',
        f'["{CANARY}"]',
        f'"{CANARY}"',
        CANARY,
    ],
)
def test_what_is_no_config_is_withheld(whose: str, data: str) -> None:
    sealed = seal(whose, data.encode())
    assert sealed.fidelity == "redacted"
    assert CANARY.encode() not in (sealed.data or b"")


OPENED = Redactor(b"k", publish_config_keys=["ssl.keystore.location", "acme.*", "some.settings"])


def test_a_setting_shows_more_keys_by_name() -> None:
    entries = {
        "ssl.keystore.location": "/k.jks",
        "listener.name.x.ssl.keystore.location": "/x.jks",
        "acme.mode": "fast lane",
        "acmeXmode": "no",
        "retention.ms": "nothing a topic takes",
    }
    shown = {
        "ssl.keystore.location": "/k.jks",
        "listener.name.x.ssl.keystore.location": "/x.jks",
        "acme.mode": "fast lane",
        "acmeXmode": MASK,
        "retention.ms": MASK,
    }
    assert published("broker", entries, OPENED) == shown


EVERYTHING = Redactor(b"k", ["/**"], publish_config_keys=["*"])
LOUD = set(LEAKS) - {
    # Names and values that give nothing away: whoever opens everything, opens these.
    *("innocent", "listener.name.x.innocent", "listeners", "metric.reporters"),
    *("ssl.keystore.location", "retention.ms", "log.retention.ms", "cleanup.policy"),
    *("compression.type", "leader.replication.throttled.replicas", "producer_byte_rate"),
    *("unclean.leader.election.enable", "message.format.version"),
}


@pytest.mark.parametrize("whose", PATHS)
@pytest.mark.parametrize("key", sorted(LOUD))
def test_what_looks_like_a_credential_stays_masked_whatever_is_opened(whose: str, key: str) -> None:
    assert published(whose, {key: LEAKS[key]}, EVERYTHING) == {key: MASK}


def test_nothing_opens_what_a_user_holds() -> None:
    assert published("user", {"acme.mode": "x"}, OPENED) == {"acme.mode": MASK}
    assert published("user", {"acme.mode": "x"}, EVERYTHING) == {"acme.mode": MASK}


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        ('{"mode":"fast","threads":8}', True),
        ('{"mode":"fast","password":"x"}', False),
        ('[{"a":[{"api_key":"x"}]}]', False),
        ('{"p\\u0061ssword":"x"}', False),
        ('"{\\"password\\":\\"x\\"}"', False),
        ('{"password":"x","password":""}', False),
        ("[" * 5000, False),
        ("[::1]:9092", True),
    ],
)
def test_strings_that_hold_json_are_looked_into(value: str, is_shown: bool) -> None:
    expected = {"some.settings": value if is_shown else MASK}
    assert published("topic", {"some.settings": value}, OPENED) == expected


@given(
    st.sampled_from(sorted(PATHS)),
    st.dictionaries(
        st.sampled_from(sorted(TOPIC | BROKER | QUOTAS | LEAKS)) | st.text(),
        st.text().map(lambda text: text + CANARY),
    ),
)
def test_no_word_of_a_user_leaves_by_any_key(whose: str, entries: dict[str, str]) -> None:
    sealed = seal(whose, write(entries))
    assert CANARY.encode() not in (sealed.data or b"")
