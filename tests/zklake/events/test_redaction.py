from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zklake.errors import SettingsError
from zklake.events.kind import Kind
from zklake.events.kinds import KIND_BY_NAME, KINDS, UNKNOWN
from zklake.events.paths import classify
from zklake.events.redaction import Redactor, Sealed

CANARY = "c4n4ry-7f3a"
REDACTOR = Redactor(b"key of this installation")


def seal(path: str, data: bytes | None, redactor: Redactor = REDACTOR) -> Sealed:
    return redactor.seal(path, classify(path).kind, data)


def config(**entries: str) -> bytes:
    named = {name.replace("__", "."): value for name, value in entries.items()}
    return json.dumps({"version": 1, "config": named}).encode()


def published(sealed: Sealed) -> Any:
    assert sealed.data is not None
    return json.loads(sealed.data)


SCRAM = f"salt={CANARY},stored_key={CANARY},server_key={CANARY},iterations=4096"
JAAS = f'org.apache.kafka…PlainLoginModule required username="u" password="{CANARY}";'
SECRETS = {
    "SCRAM": (
        "/config/users/alice",
        json.dumps({"version": 1, "config": {"SCRAM-SHA-256": SCRAM}}),
    ),
    "SCRAM of a client": ("/config/users/alice/clients/c", config(other=SCRAM).decode()),
    "user, no JSON": ("/config/users/alice", f"salt={CANARY}"),
    "user, other version": ("/config/users/a", f'{{"version":2,"config":{{"a":"{CANARY}"}}}}'),
    "user, beside the config": ("/config/users/a", f'{{"version":1,"config":{{}},"x":"{CANARY}"}}'),
    "user, quota that is none": ("/config/users/a", config(producer_byte_rate=CANARY).decode()),
    "user, twin keys": (
        "/config/users/a",
        f'{{"version":1,"config":{{"SCRAM-SHA-512":"{CANARY}"}},"config":{{}}}}',
    ),
    "jaas": ("/config/brokers/1", config(listener__name__x__sasl__jaas__config=JAAS).decode()),
    "jaas under another name": ("/config/brokers/1", config(innocent=JAAS).decode()),
    "password": ("/config/brokers/1", config(ssl__keystore__password=CANARY).decode()),
    "default broker": ("/config/brokers/<default>", config(ssl__key__password=CANARY).decode()),
    "keystore key": ("/config/brokers/1", config(ssl__keystore__key=CANARY).decode()),
    "truststore": ("/config/brokers/1", config(ssl__truststore__certificates=CANARY).decode()),
    "private key": (
        "/config/brokers/1",
        config(x=f"-----BEGIN PRIVATE KEY-----{CANARY}").decode(),
    ),
    "encoder": ("/config/brokers/1", config(password__encoder__secret=CANARY).decode()),
    "token key": ("/config/brokers/1", config(delegation__token__master__key=CANARY).decode()),
    "escaped key": ("/config/brokers/1", f'{{"config":{{"p\\u0061ssword":"{CANARY}"}}}}'),
    "number": ("/config/brokers/1", f'{{"config":{{"password":["{CANARY}", 1]}}}}'),
    "broker config, no JSON": ("/config/brokers/1", f"ssl.key.password={CANARY}"),
    "broker config, twins": ("/config/brokers/1", f'{{"password":"{CANARY}","password":""}}'),
    "broker config, deep": ("/config/brokers/1", '{"a":' * 5000 + f'{{"password":"{CANARY}'),
    "topic config": ("/config/topics/t", config(my__secret=CANARY).decode()),
    "client config": ("/config/clients/c", config(api_key=CANARY).decode()),
    "user's name": (
        "/config/changes/config_change_1",
        f'{{"version":2,"entity_path":"users/{CANARY}"}}',
    ),
    "user's name, v1": (
        "/config/changes/config_change_1",
        f'{{"version":1,"entity_type":"users","entity_name":"{CANARY}"}}',
    ),
    "change, beside": (
        "/config/changes/config_change_1",
        f'{{"version":2,"entity_path":"topics/t","user":"{CANARY}"}}',
    ),
    "change, odd type": (
        "/config/changes/config_change_1",
        f'{{"version":2,"entity_path":"{CANARY}/x"}}',
    ),
    "token": (f"/delegation_token/tokens/{CANARY}", f'{{"version":3,"tokenId":"{CANARY}"}}'),
    "token change": ("/delegation_token/token_changes/token_change_1", CANARY),
    "below tokens": (f"/delegation_token/tokens/a/{CANARY}", CANARY),
    "acl": ("/kafka-acl/Topic/t", f'{{"version":1,"acls":[{{"principal":"User:{CANARY}"}}]}}'),
    "prefixed acl": ("/kafka-acl-extended/prefixed/Topic/t", CANARY),
    "acl change": ("/kafka-acl-changes/acl_changes_1", f"Topic:{CANARY}"),
    "extended acl change": ("/kafka-acl-extended-changes/acl_changes_1", f'{{"name":"{CANARY}"}}'),
    "directory with data": ("/consumers/g/owners", CANARY),
    "unknown": ("/hbase/master", CANARY),
    "zookeeper's own": ("/zookeeper/config", CANARY),
    "inside a broker": ("/brokers/ids/1", f'{{"version":1,"host":"h","password":"{CANARY}"}}'),
    "deep inside a broker": (
        "/brokers/ids/1",
        f'{{"x":[{{"y":{{"apiKey":{{"z":"{CANARY}"}}}}}}]}}',
    ),
    "inside a consumer": (
        "/consumers/g/ids/c",
        f'{{"version":1,"subscription":{{"a\\.b":1}},"pattern":"static","secret":"{CANARY}"}}',
    ),
    "consumer, twins": ("/consumers/g/ids/c", f'{{"password":"{CANARY}","password":1}}'),
    "owner": ("/consumers/g/owners/t/0", f"password={CANARY}"),
    "offset": ("/consumers/g/offsets/t/0", f"token {CANARY}"),
    "url": ("/brokers/ids/1", f'{{"endpoints":["http://u:{CANARY}@h:1"]}}'),
    "url with a token": ("/brokers/ids/1", f'{{"endpoints":["https://{CANARY}@h:1"]}}'),
    "address with a login": ("/brokers/ids/1", f'{{"version":1,"host":"u:{CANARY}@h"}}'),
    "rack": ("/brokers/ids/1", f'{{"rack":"Bearer {CANARY}"}}'),
    "JSON in a string": ("/brokers/ids/1", json.dumps({"rack": json.dumps({"password": CANARY})})),
    "old broker": ("/brokers/ids/1", f"h-1315436360737:u:{CANARY}@h:9092"),
    "owner, url": ("/consumers/g/owners/t/0", f"https://{CANARY}@h/"),
    "owner, hook": ("/consumers/g/owners/t/0", f"https://hooks.slack.com/services/{CANARY}"),
    "member, url": ("/consumers/g/ids/c", f"*2*https://{CANARY}@h/"),
    "member, pattern": (
        "/consumers/g/ids/c",
        f'{{"version":1,"pattern":"api_key={CANARY}","subscription":{{}}}}',
    ),
    "member, topic": (
        "/consumers/g/ids/c",
        f'{{"version":1,"pattern":"static","subscription":{{"https://{CANARY}@h/":1}}}}',
    ),
    "reassignment": (
        "/admin/reassign_partitions",
        f'{{"version":1,"partitions":[{{"topic":"t","log_dirs":["sftp://u:{CANARY}@h/"]}}]}}',
    ),
    "reassignment, beside": (
        "/admin/reassign_partitions",
        f'{{"version":1,"partitions":[],"authorization":"{CANARY}"}}',
    ),
}
# /config/changes stays closed: names of users are what opening it is for.
EVERYTHING = Redactor(
    b"k", ["/config/*/**", "/delegation_token/**", "/brokers/**"], ["/config/changes/**"]
)


@pytest.mark.parametrize("redactor", [REDACTOR, EVERYTHING], ids=["default", "opened"])
@pytest.mark.parametrize("case", SECRETS)
def test_no_secret_leaves(case: str, redactor: Redactor) -> None:
    path, text = SECRETS[case]
    sealed = seal(path, text.encode(), redactor)
    assert sealed.fidelity == "redacted"
    assert CANARY.encode() not in (sealed.data or b"")
    assert CANARY not in redactor.seal_path(path)
    assert CANARY not in sealed.data_hash
    assert len(sealed.data_hash) == 16


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_samples_of_open_kinds_pass_unchanged(kind: Kind) -> None:
    for sample in kind.samples:
        sealed = REDACTOR.seal(kind.pattern, kind.name, sample.data)
        if kind.sensitivity in ("open", "empty"):
            assert (sealed.data, sealed.fidelity) == (sample.data, "exact")


def test_a_user_keeps_quotas_and_the_names_of_the_rest() -> None:
    data = json.dumps(
        {"version": 1, "config": {"SCRAM-SHA-256": SCRAM, "producer_byte_rate": "1024.0"}}
    ).encode()
    assert published(seal("/config/users/alice", data)) == {
        "version": 1,
        "config": {"SCRAM-SHA-256": "[redacted]", "producer_byte_rate": "1024.0"},
    }
    quotas = config(consumer_byte_rate="1")
    assert seal("/config/users/a", quotas)[:2] == (quotas, "exact")


def test_a_broker_config_keeps_what_kafka_defines_as_no_secret() -> None:
    data = config(
        ssl__keystore__location="/k.jks", ssl__keystore__password="x", max__connections="1"
    )
    assert published(seal("/config/brokers/1", data))["config"] == {
        "ssl.keystore.location": "[redacted]",
        "ssl.keystore.password": "[redacted]",
        "max.connections": "1",
    }


def test_changes_of_topics_keep_their_name() -> None:
    for sample in KIND_BY_NAME["config_change"].samples[:2]:
        assert seal("/config/changes/config_change_1", sample.data)[:2] == (sample.data, "exact")
    users = KIND_BY_NAME["config_change"].samples[2].data
    sealed = seal("/config/changes/config_change_1", users)
    assert published(sealed) == {"version": 2, "entity_path": "users/[redacted]"}


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/consumers/token-service/owners/t/0", b"token-service_h-1794793318729-6a094f91-0"),
        (
            "/consumers/g/ids/c",
            b'{"version":1,"subscription":{"password-resets":2},"pattern":"static"}',
        ),
        ("/consumers/g/ids/c", b'{ "secret-topic": 2 }'),
        ("/consumers/g/ids/c", b"*2*token.*"),
        (
            "/consumers/g/ids/c",
            rb'{"version":1,"subscription":{"key\.\d+":2},"pattern":"white_list"}',
        ),
        ("/brokers/ids/1", b"secret-host-1315436360737:secret-host:9092"),
        (
            "/brokers/ids/1",
            b'{"version":4,"endpoints":["TOKEN://h:1"],'
            b'"listener_security_protocol_map":{"TOKEN":"SASL_SSL"}}',
        ),
        ("/admin/reassign_partitions", b'{"version":1,"partitions":[{"topic":"token-keys"}]}'),
        ("/admin/reassign_partitions", b'{"version":1,"partitions":[{"topic":"webhook-auth"}]}'),
        ("/consumers/g/ids/c", b'{"version":1,"subscription":{"license-pw":2},"pattern":"static"}'),
        ("/consumers/a@b/owners/t/0", b"a@b_webhook-1794793318729-6a094f91-0"),
        ("/brokers/ids/1", b'{"version":2,"host":"[::1]","endpoints":["BASIC://[::1]:9092"]}'),
    ],
)
def test_names_that_sound_like_secrets_are_only_names(path: str, data: bytes) -> None:
    assert seal(path, data)[:2] == (data, "exact")


def test_publish_paths_open_and_redact_paths_win() -> None:
    acl = KIND_BY_NAME["acl"].samples[0].data
    opened = Redactor(
        b"k", ["/kafka-acl/**", "/hbase/*"], ["/kafka-acl/Group/**", "/brokers/ids/7"]
    )
    assert seal("/kafka-acl/Topic/t", acl, opened)[:2] == (acl, "exact")
    assert seal("/kafka-acl/Group/g", acl, opened)[:2] == (None, "redacted")
    assert seal("/hbase/master", b"plain", opened).data == b"plain"
    assert seal("/hbase/a/b", b"plain", opened).data is None
    assert seal("/hbase/master", b"password: x", opened).data is None
    assert published(seal("/hbase/m", b'{"password": 7, "a": 7}', opened)) == {
        "password": "[redacted]",
        "a": 7,
    }
    assert seal("/brokers/ids/7", b"x", opened).data is None
    assert seal("/brokers/ids/77", b"x", opened).data == b"x"


def test_an_opened_token_shows_its_owner_and_not_its_id() -> None:
    token = KIND_BY_NAME["delegation_token"].samples[1].data
    shown = published(seal("/delegation_token/tokens/pQ", token, EVERYTHING))
    assert (shown["owner"], shown["tokenId"]) == ("User:bob", "[redacted]")


def test_patterns_and_keys_that_cannot_work_are_refused() -> None:
    with pytest.raises(SettingsError, match="does not begin"):
        Redactor(b"k", ["kafka-acl/**"])
    with pytest.raises(SettingsError, match="key is empty"):
        Redactor(b"")


def test_the_hash_is_keyed_and_shows_changes() -> None:
    path = "/config/users/alice"
    one, two = (seal(path, config(a=value)) for value in "12")
    assert one.data == two.data
    assert one.data_hash != two.data_hash
    assert seal(path, config(a="1"), Redactor(b"other")).data_hash != one.data_hash
    assert seal(path, config(a="1")) == one


def test_nothing_is_withheld_where_nothing_is() -> None:
    for kind in (*KINDS, UNKNOWN):
        for nothing in (None, b""):
            assert REDACTOR.seal("/x", kind.name, nothing)[:2] == (nothing, "exact")


def test_a_token_id_in_a_path_becomes_a_keyed_hash() -> None:
    sealed = REDACTOR.seal_path("/delegation_token/tokens/pQ")
    assert classify(sealed).kind == "delegation_token"
    assert sealed == REDACTOR.seal_path(sealed) == REDACTOR.seal_path("/delegation_token/tokens/pQ")
    assert sealed != Redactor(b"other").seal_path("/delegation_token/tokens/pQ")
    assert sealed != REDACTOR.seal_path("/delegation_token/tokens/pR")
    for path in ("/", "/brokers/ids/1", "/delegation_token/tokens", "/delegation_token/tokens/"):
        assert REDACTOR.seal_path(path) == path


@given(st.sampled_from([*KINDS, UNKNOWN]), st.binary())
def test_seal_never_raises_and_never_invents(kind: Kind, data: bytes) -> None:
    sealed = REDACTOR.seal(kind.pattern, kind.name, data)
    assert (sealed.data == data) == (sealed.fidelity == "exact")


KEYS = (
    "password",
    "ssl.key.password",
    "sasl.jaas.config",
    "token",
    "SCRAM-SHA-256",
    "client_secret",
)
OPEN = [kind for kind in KINDS if kind.sensitivity not in ("empty",)]


@given(
    st.sampled_from(OPEN),
    st.sampled_from(KEYS),
    st.lists(st.sampled_from(["config", "x", "list", "partitions"]), max_size=6),
)
def test_a_credential_at_any_depth_of_any_kind_never_leaves(
    kind: Kind, key: str, nesting: list[str]
) -> None:
    tree: Any = {key: CANARY, "version": 1}
    for name in nesting:
        tree = [tree] if name == "list" else {name: tree, "version": 1}
    sealed = EVERYTHING.seal("/config/x", kind.name, json.dumps(tree).encode())
    assert CANARY.encode() not in (sealed.data or b"")


@pytest.mark.parametrize("depth", [100, 300, 400, 500, 700, 900, 990, 5000, 100_000])
@pytest.mark.parametrize("path", ["/config/brokers/1", "/brokers/ids/1", "/config/users/a"])
def test_deep_nesting_is_masked_or_withheld(path: str, depth: int) -> None:
    for opening, closing in (('{"a":', "}"), ("[", "]")):
        text = opening * depth + f'{{"password":"{CANARY}"}}' + closing * depth
        assert CANARY.encode() not in (seal(path, text.encode()).data or b"")


def test_a_masked_value_is_always_json() -> None:
    data = b'{"version":1,"x":1e999,"password":"p"}'
    assert seal("/brokers/ids/1", data).data is None
    big = b'{"version":1,"x":%b,"password":"p"}' % (b"9" * 400)
    assert published(seal("/brokers/ids/1", big))["x"] == int("9" * 400)


@given(st.text())
def test_any_path_can_be_sealed(path: str) -> None:
    for given_path in (path, "/delegation_token/tokens/" + path):
        sealed = REDACTOR.seal_path(given_path)
        assert REDACTOR.seal_path(sealed) == sealed
