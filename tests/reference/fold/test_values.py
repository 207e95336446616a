"""Payload columns of the interval tables, and what becomes of data that cannot be read."""

from __future__ import annotations

import base64
import zlib

import pytest

from tests.reference.fold.script import Script
from tests.reference.fold.tables import fold_events

BROKER = ("broker", "/brokers/ids/1")
STATE = ("partition_state", "/brokers/topics/t/partitions/0/state")
TOPIC = ("topic", "/brokers/topics/t")
TEXT = "h-1:h:9092"
ISR = '{"version":1,"leader":1,"leader_epoch":2,"controller_epoch":3,"isr":[1,2]}'
OPEN = {
    "valid_to_seq": None,
    "valid_to_zxid": None,
    "valid_to_at": None,
    "valid_to_at_min": None,
    "is_clamped": False,
    "is_open": True,
    "ended_by": None,
    "closed_on": None,
}


def test_a_broker_of_0_7() -> None:
    log = Script().say("create", *BROKER, data=TEXT, czxid=7, ephemeral_owner=5)
    assert log.rows("broker_membership") == [
        {
            "cluster": "c",
            "broker_id": 1,
            "endpoints": ["PLAINTEXT://h:9092"],
            "host": "h",
            "port": 9092,
            "rack": None,
            "jmx_port": -1,
            "registration_version": 0,
            "listener_security_protocol_map": None,
            "registered_at": None,
            "session": 5,
            "broker_epoch": 7,
            "exit": None,
            "exit_evidence": None,
            "czxid": 7,
            "znode_version": 0,
            "fidelity": "exact",
            "is_known": True,
            "decode_error": None,
            "unseen_versions": 0,
            "seen_seq": 1,
            "valid_from_seq": 1,
            "valid_from_zxid": 7,
            "valid_from_at": 1000,
            **OPEN,
        }
    ]


def test_a_broker_of_json_and_a_wild_timestamp() -> None:
    registration = (
        '{"version":4,"host":null,"port":-1,"endpoints":["INT://k:1"],"timestamp":"%s",'
        '"listener_security_protocol_map":{"INT":"SSL"}}'
    )
    log = Script().say("read", *BROKER, data=registration % "17", czxid=7, mzxid=8, version=1)
    log.say("set", *BROKER, data=registration % "253402300800000", czxid=7, version=2)
    columns = ("endpoints", "host", "registration_version", "registered_at", "valid_from_zxid")
    assert log.rows("broker_membership", *columns) == [
        (["INT://k:1"], None, 4, 17, 8),
        (["INT://k:1"], None, 4, None, None),
    ]
    assert log.rows("broker_membership", "listener_security_protocol_map") == [{"INT": "SSL"}] * 2


def test_a_broker_without_endpoints_has_none_and_without_a_host_no_address() -> None:
    log = Script().say("create", *BROKER, data='{"version":2,"endpoints":[],"host":"h","port":1}')
    log.say("set", *BROKER, data='{"version":1,"host":null,"port":1}')
    assert log.rows("broker_membership", "endpoints") == [[], None]


def test_topics_of_all_releases() -> None:
    moving = (
        '{"version":3,"topic_id":"id","partitions":{"0":[4,1]},"adding_replicas":{"0":[4]},'
        '"removing_replicas":{}}'
    )
    log = Script().say("create", *TOPIC, data='{"version":1,"partitions":{"1":[2],"0":[1]}}')
    log.say("set", *TOPIC, data=moving, czxid=9)
    log.say("create", "topic", "/brokers/topics/old", czxid=3)
    log.say("create", "topic_broker", "/brokers/topics/old/2", data="4", ephemeral_owner=8)
    columns = ("topic", "broker_id", "partition_count", "replicas", "assignment_version", "session")
    assert log.rows("topics", *columns) == [
        ("old", None, None, None, None, None),
        ("old", 2, 4, None, 0, 8),
        ("t", None, 2, {1: [2], 0: [1]}, 1, None),
        ("t", None, 1, {0: [4, 1]}, 3, None),
    ]
    moves = ("topic_id", "adding_replicas", "removing_replicas", "incarnation", "is_known")
    assert log.rows("topics", *moves) == [
        (None, None, None, 3, False),
        (None, None, None, None, True),
        (None, None, None, None, True),
        ("id", {0: [4]}, {}, 9, True),
    ]


def test_members_and_owners() -> None:
    member = "g_1_my-host-1794793318729-6a094f91"
    log = Script().say("create", "consumer", f"/consumers/g_1/ids/{member}", data="*2*ord.*")
    log.say("create", "consumer", "/consumers/g_1/ids/g_1_chosen", data='{"a":1}')
    owners = "/consumers/g_1/owners/t"
    log.say("create", "owner", f"{owners}/3", data=f"{member}-12", ephemeral_owner=6)
    log.say("create", "owner", f"{owners}/7-3", data="other")
    columns = ("coordinator", "group_id", "host", "pattern", "subscription", "registration_version")
    assert log.rows("consumer_membership", *columns) == [
        ("zookeeper", "g_1", None, "static", {"a": 1}, 0),
        ("zookeeper", "g_1", "my-host", "white_list", {"ord.*": 2}, 0),
    ]
    columns = ("partition", "broker_id", "owner", "owner_member_id", "owner_stream", "session")
    assert log.rows("ownership_history", *columns) == [
        (3, None, f"{member}-12", member, 12, 6),
        (3, 7, "other", "other", None, None),
    ]


@pytest.mark.parametrize("name", ["2147483648", "99999999999999999999"])
def test_a_name_beyond_int_is_no_key(name: str) -> None:
    log = Script().say("create", "broker", f"/brokers/ids/{name}", data=TEXT)
    log.say("create", "owner", f"/consumers/g/owners/t/{name}-0", data="a-0")
    log.say("create", "owner", "/consumers/g/owners/t/x", data="a-0")
    tables = fold_events(log.events)
    assert not tables["broker_membership"]
    assert not tables["ownership_history"]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, None),
        ({"data": ""}, "no_data"),
        ({"data_b64": "//4="}, "not_utf8"),
        ({"data_zlib_b64": base64.b64encode(zlib.compress(b"\xff")).decode()}, "not_utf8"),
        ({"data_zlib_b64": "AAAA"}, "malformed"),
        ({"data": '{"version":9}'}, "unknown_version"),
        ({"data": '{"version":1}'}, "malformed"),
        ({"data": "null"}, "malformed"),
    ],
)
def test_what_cannot_be_read_has_a_word_and_no_payload(
    fields: dict[str, str], error: str | None
) -> None:
    log = Script().say("create", *STATE, **fields, fidelity="oversize", czxid=4)
    columns = ("is_known", "decode_error", "leader", "isr", "leader_recovery_state", "czxid")
    assert log.rows("partition_state", *columns) == [(False, error, None, None, None, 4)]
    assert log.rows("partition_state", "fidelity") == ["oversize"]


def test_large_data_is_inflated_and_a_later_good_value_heals() -> None:
    packed = base64.b64encode(zlib.compress(ISR.encode())).decode()
    log = Script().say("create", *STATE, data_zlib_b64=packed).say("set", *STATE, data="x")
    log.say("set", *STATE, data=ISR)
    assert log.rows("partition_state", "leader", "ended_by") == [
        (1, "unreadable"),
        (None, "changed"),
        (1, None),
    ]


def test_an_empty_topic_is_a_directory() -> None:
    log = Script().say("create", *TOPIC, data="")
    assert log.rows("topics", "is_known", "decode_error") == [(False, None)]
