"""config_history of the plain fold: full snapshots become one row per value of one key."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.script import Script

ORDERS = ("topic_config", "/config/topics/orders")
ALICE = ("user_config", "/config/users/al%2Fice")
FROM_TO = ("config_key", "value", "valid_from_seq", "valid_to_seq", "ended_by")


def write(**config: str) -> str:
    entries = ",".join(f'"{key.replace("_", ".")}":"{value}"' for key, value in config.items())
    return f'{{"version":1,"config":{{{entries}}}}}'


def in_order(log: Script, *columns: str) -> list[Any]:
    rows = sorted(log.rows("config_history"), key=lambda row: row["valid_from_seq"])
    return [tuple(row[column] for column in columns) for row in rows]


def test_a_row_lasts_while_its_key_has_its_value() -> None:
    log = Script().say("create", *ORDERS, data=write(a="1", b="x"), czxid=7, ctime=900, zxid=7)
    log.say("set", *ORDERS, data=write(a="2"), czxid=7, mzxid=8, mtime=1900, version=1)
    log.say("set", *ORDERS, data=write()).say("set", *ORDERS, data=write(a="2"))
    log.say("delete", *ORDERS, zxid=11).say("delete", *ORDERS)
    assert in_order(log, *FROM_TO) == [
        ("a", "1", 1, 2, "changed"),
        ("b", "x", 1, 2, "removed"),
        ("a", "2", 2, 3, "removed"),
        ("a", "2", 4, 5, "deleted"),
    ]
    first = next(row for row in log.rows("config_history") if row["value"] == "1")
    assert first == {
        "cluster": "c",
        "entity_type": "topics",
        "entity_name": "orders",
        "client_id": None,
        "config_key": "a",
        "value": "1",
        "is_redacted": False,
        "data_hash": None,
        "czxid": 7,
        "znode_version": 0,
        "fidelity": "exact",
        "is_known": True,
        "decode_error": None,
        "seen_seq": 1,
        "valid_from_seq": 1,
        "valid_from_zxid": 7,
        "valid_from_at": 900,
        "valid_to_seq": 2,
        "valid_to_zxid": 8,
        "valid_to_at": 1900,
        "valid_to_at_min": None,
        "is_clamped": False,
        "is_open": False,
        "ended_by": "changed",
        "closed_on": "1970-01-01",
    }


def test_a_value_written_again_goes_on() -> None:
    log = Script().say("create", *ORDERS, data=write(a="1"), czxid=7)
    log.say("set", *ORDERS, data=write(a="1", b="2"), czxid=7, version=1)
    log.say("set", *ORDERS, fidelity="superseded", version=2)
    columns = ("config_key", "znode_version", "valid_from_seq", "seen_seq", "is_open")
    assert in_order(log, *columns) == [("a", 0, 1, 3, True), ("b", 1, 2, 3, True)]


def test_of_a_secret_only_the_hash_shows_a_change() -> None:
    masked = '{"version":1,"config":{"SCRAM":"[redacted]","rate":"5"}}'
    log = Script().say("read", *ALICE, data=masked, fidelity="redacted", data_hash="h1")
    log.say("set", *ALICE, data=masked, fidelity="redacted", data_hash="h2")
    log.say("set", *ALICE, data=masked, data_hash="h3")
    columns = ("entity_name", "config_key", "value", "is_redacted", "data_hash", "valid_from_seq")
    assert sorted(in_order(log, *columns), key=repr) == sorted(
        [
            ("al/ice", "SCRAM", None, True, "h1", 1),
            ("al/ice", "SCRAM", None, True, "h2", 2),
            # Somebody really wrote so.
            ("al/ice", "SCRAM", "[redacted]", False, None, 3),
            ("al/ice", "rate", "5", False, None, 1),
        ],
        key=repr,
    )


def test_what_cannot_be_read_is_a_row_without_a_key() -> None:
    log = Script().say("read", *ORDERS, data=write(a="1"), czxid=7, version=3)
    log.say("set", *ORDERS, fidelity="superseded")
    log.say("set", *ORDERS, data="{broken", czxid=7, version=5)
    log.say("read", *ORDERS, data="{broken", czxid=7, version=5)
    log.say("set", *ORDERS, data=write(a="1"), czxid=7, version=6)
    columns = (*FROM_TO, "seen_seq", "is_known", "decode_error")
    assert in_order(log, *columns) == [
        ("a", "1", 1, 3, "unreadable", 2, True, None),
        (None, None, 3, 5, "changed", 4, False, "malformed"),
        ("a", "1", 5, None, None, 5, True, None),
    ]


def test_what_is_withheld_whole_is_one_too_and_null_data_is_no_override() -> None:
    log = Script().say("create", *ALICE, fidelity="redacted", data_hash="h1")
    log.say("set", *ALICE, fidelity="redacted", data_hash="h2").say("set", *ALICE)
    log.say("set", *ALICE, data="").say("create", *ALICE, fidelity="superseded")
    columns = (*FROM_TO, "is_redacted", "data_hash", "decode_error")
    assert in_order(log, *columns) == [
        (None, None, 1, 2, "changed", True, "h1", None),
        (None, None, 2, 3, "changed", True, "h2", None),
        (None, None, 5, None, None, False, None, None),
    ]


def test_another_life_begins_all_anew_and_an_unknown_czxid_is_learnt() -> None:
    log = Script().say("create", *ORDERS, data=write(a="1"), czxid=10)
    log.say("create", *ORDERS, data=write(a="1"))
    log.say("read", *ORDERS, data=write(a="1"), czxid=20).say("set", *ORDERS, data="?", czxid=30)
    assert in_order(log, *FROM_TO, "czxid") == [
        ("a", "1", 1, 2, "recreated", 10),
        ("a", "1", 2, 4, "recreated", 20),
        (None, None, 4, None, None, 30),
    ]


def test_a_frame_ends_what_it_did_not_show() -> None:
    log = (
        Script().say("create", *ORDERS, data=write(a="1")).say("create", *ALICE, data=write(b="2"))
    )
    log.gap("g", from_ms=2500).frame("f").say("read", *ALICE, data=write(b="2"))
    log.in_sync("f", base="none")
    columns = (*FROM_TO, "seen_seq", "valid_to_zxid", "valid_to_at", "valid_to_at_min")
    assert in_order(log, *columns) == [
        ("a", "1", 1, 6, "resync", 1, None, 6000, 2500),
        ("b", "2", 2, None, None, 5, None, None, None),
    ]


def test_entities_of_all_types_have_their_names() -> None:
    log = Script()
    for kind, path in (
        ("client_config", "/config/clients/<default>"),
        ("ip_config", "/config/ips/10.0.0.1"),
        ("broker_config", "/config/brokers/a%20b"),
        ("user_config", "/config/users/%ff"),
        ("user_client_config", "/config/users/al%2Fice/clients/c%2A1"),
        ("user_config", "/config/users/a/b"),
    ):
        log.say("create", kind, path, data=write(a="1"))
    assert in_order(log, "entity_type", "entity_name", "client_id") == [
        ("clients", "<default>", None),
        ("ips", "10.0.0.1", None),
        ("brokers", "a%20b", None),
        ("users", "%ff", None),
        ("users", "al/ice", "c*1"),
    ]
