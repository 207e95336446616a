"""The interval tables of the plain fold, rule by rule; every expected row is written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.fold.script import Script
from tests.reference.fold.tables import fold_events

BROKER = ("broker", "/brokers/ids/1")
STATE = ("partition_state", "/brokers/topics/t/partitions/0/state")
TOPIC = ("topic", "/brokers/topics/t")
TEXT = "h-1:h:9092"
ISR = '{"version":1,"leader":1,"leader_epoch":2,"controller_epoch":3,"isr":[1,2]}'
FROM_TO = ("valid_from_seq", "valid_to_seq", "ended_by")


def test_a_state_lasts_from_its_mark_to_the_next_one() -> None:
    log = Script()
    log.say("create", *STATE, data=ISR, czxid=10, mzxid=10, ctime=900, mtime=900, zxid=10)
    log.say("set", *STATE, data=ISR, czxid=10, mzxid=12, mtime=1900, version=1, zxid=12)
    log.say("delete", *STATE, zxid=15)
    first = {
        "cluster": "c",
        "topic": "t",
        "partition": 0,
        "leader": 1,
        "isr": [1, 2],
        "leader_epoch": 2,
        "controller_epoch": 3,
        "leader_recovery_state": 0,
        "czxid": 10,
        "znode_version": 0,
        "fidelity": "exact",
        "is_known": True,
        "decode_error": None,
        "unseen_versions": 0,
        "seen_seq": 1,
        "valid_from_seq": 1,
        "valid_from_zxid": 10,
        "valid_from_at": 900,
        "valid_to_seq": 2,
        "valid_to_zxid": 12,
        "valid_to_at": 1900,
        "valid_to_at_min": None,
        "is_clamped": False,
        "is_open": False,
        "ended_by": "changed",
        "closed_on": "1970-01-01",
    }
    second = {
        **first,
        "znode_version": 1,
        "seen_seq": 2,
        "valid_from_seq": 2,
        "valid_from_zxid": 12,
        "valid_from_at": 1900,
        "valid_to_seq": 3,
        "valid_to_zxid": 15,
        "valid_to_at": 3000,
        "ended_by": "deleted",
    }
    assert log.rows("partition_state") == [first, second]


def test_a_superseded_write_only_shows_the_znode_alive() -> None:
    log = (
        Script().say("set", *STATE, fidelity="superseded").say("create", *STATE, czxid=1, data=ISR)
    )
    log.say("set", *STATE, fidelity="superseded", czxid=1, version=1)
    log.say("read", *STATE, fidelity="superseded", czxid=1, version=1)
    assert log.rows("partition_state", "valid_from_seq", "seen_seq") == [(2, 4)]
    log.say("set", *STATE, data=ISR, czxid=1, version=4)
    assert log.rows("partition_state", "valid_from_seq", "seen_seq", "unseen_versions") == [
        (2, 4, 0),
        (5, 5, 3),
    ]


def test_a_superseded_create_is_a_row() -> None:
    log = Script().say("create", *STATE, fidelity="superseded", czxid=3)
    columns = ("fidelity", "is_known", "znode_version", "valid_from_at", "ended_by")
    assert log.rows("partition_state", *columns) == [("superseded", False, 0, 1000, None)]


def test_a_read_that_repeats_the_state_is_an_echo() -> None:
    log = Script().say("create", *STATE, data=ISR, czxid=1, version=0)
    log.say("read", *STATE, data=ISR, czxid=1, version=0)
    assert log.rows("partition_state", "valid_from_seq", "seen_seq") == [(1, 2)]
    log.say("read", *STATE, data=ISR, czxid=1, version=2)
    log.say("read", *STATE, data=ISR, czxid=9, version=2)
    columns = (*FROM_TO, "unseen_versions")
    assert log.rows("partition_state", *columns) == [
        (1, 3, "changed", 0),
        (3, 4, "recreated", 1),
        (4, None, None, 0),
    ]
    log.say("delete", *STATE).say("read", *STATE, data=ISR, czxid=9, version=2)
    assert log.rows("partition_state", *FROM_TO)[2:] == [(4, 5, "deleted"), (6, None, None)]


def test_only_a_read_is_an_echo() -> None:
    log = Script().say("create", *STATE, data=ISR, czxid=1, version=0)
    log.say("set", *STATE, data=ISR, czxid=1, version=0)
    assert log.rows("partition_state", *FROM_TO) == [(1, 2, "changed"), (2, None, None)]


def test_without_a_stat_the_event_itself_says_when() -> None:
    log = Script().say("create", *STATE, data=ISR, zxid=3).say("set", *STATE, data=ISR, zxid=4)
    columns = ("valid_from_zxid", "valid_to_zxid", "valid_from_at", "valid_to_at", "znode_version")
    assert log.rows("partition_state", *columns) == [
        (3, 4, 1000, 2000, 0),
        (4, None, 2000, None, None),
    ]


def test_a_read_of_unknown_life_or_version_repeats_nothing() -> None:
    log = Script().say("read", *STATE, data=ISR).say("read", *STATE, data=ISR)
    assert log.rows("partition_state", *FROM_TO) == [(1, 2, "changed"), (2, None, None)]


def test_unseen_versions_need_two_known_versions_of_one_life() -> None:
    log = Script().say("create", *STATE, data=ISR).say("set", *STATE, data=ISR, czxid=1, version=3)
    log.say("set", *STATE, data=ISR, czxid=1).say("set", *STATE, data=ISR, czxid=1, version=9)
    log.say("set", *STATE, data=ISR, czxid=2, version=20).say("set", *STATE, data=ISR, version=22)
    log.say("set", *STATE, data=ISR, version=5).say("create", *STATE, data=ISR, version=8)
    assert log.rows("partition_state", "unseen_versions") == [0, 2, 0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("create", "change"),
    [
        ({"zxid": 7}, {"zxid": 7}),
        ({"fidelity": "superseded"}, {"czxid": 7, "mzxid": 7}),
    ],
)
def test_create_and_set_in_one_transaction_are_one_row(
    create: dict[str, Any], change: dict[str, Any]
) -> None:
    log = Script().say("create", *BROKER, data=TEXT, czxid=3, ephemeral_owner=5)
    log.say("create", *BROKER, **create).say("set", *BROKER, fidelity="superseded")
    log.say("set", *BROKER, data=TEXT, version=1, **change)
    columns = (*FROM_TO, "znode_version", "unseen_versions")
    assert log.rows("broker_membership", *columns) == [
        (1, 2, "recreated", 0, 0),
        (4, None, None, 1, 0),
    ]


@pytest.mark.parametrize(
    ("create", "change"),
    [
        ({"zxid": 7}, {"zxid": 8}),
        ({}, {}),
        ({"zxid": 7, "data": TEXT}, {"zxid": 7}),
        ({"zxid": 7, "data": "?"}, {"zxid": 7}),
    ],
)
def test_create_and_set_of_two_transactions_are_two_rows(
    create: dict[str, Any], change: dict[str, Any]
) -> None:
    log = Script().say("create", *BROKER, **create).say("set", *BROKER, data=TEXT, **change)
    assert log.rows("broker_membership", *FROM_TO) == [(1, 2, "changed"), (2, None, None)]


def test_only_a_set_is_a_second_half() -> None:
    log = Script().say("create", *BROKER, zxid=7)
    log.say("read", *BROKER, data=TEXT, zxid=7, czxid=7, mzxid=7, version=1)
    assert log.rows("broker_membership", *FROM_TO) == [(1, 2, "changed"), (2, None, None)]


def test_a_delete_of_nothing_is_nothing_and_same_value_owners_close_and_open() -> None:
    owner = ("owner", "/consumers/g/owners/t/0")
    log = Script().say("delete", *owner).say("create", *owner, data="a-0", czxid=1)
    log.say("delete", *owner).say("create", *owner, data="a-0", czxid=2)
    log.say("create", *owner, data="?", czxid=3)
    assert log.rows("ownership_history", *FROM_TO) == [
        (2, 3, "deleted"),
        (4, 5, "recreated"),
        (5, None, None),
    ]


def test_no_end_lies_before_its_beginning() -> None:
    log = Script().say("create", *STATE, data=ISR, ctime=5000)
    log.say("set", *STATE, data=ISR, mtime=4000).say("set", *STATE, data=ISR, mtime=-1)
    log.say("delete", *STATE, at=253402300799999)
    columns = ("valid_from_at", "valid_to_at", "is_clamped", "closed_on")
    assert log.rows("partition_state", *columns) == [
        (5000, 5000, True, "1970-01-01"),
        (4000, None, False, None),
        (None, 253402300799999, False, "9999-12-31"),
    ]


def test_an_op_unreadable_only_shows_it_alive() -> None:
    log = Script().say("create", *STATE, data=ISR).say("unreadable", *STATE, fidelity="unreadable")
    assert log.rows("partition_state", *FROM_TO, "seen_seq") == [(1, None, None, 2)]


def test_of_two_events_with_one_seq_the_first_counts_and_clusters_are_apart() -> None:
    log, other = Script("b"), Script("a")
    log.say("create", *TOPIC, data="{}").say("delete", *TOPIC, seq=1)
    other.say("create", *TOPIC, data="{}").say("delete", *TOPIC)
    mixed = [log.events[0], other.events[0], log.events[1], other.events[1]]
    tables = fold_events(mixed)
    assert [(row["cluster"], row["is_open"]) for row in tables["topics"]] == [
        ("a", False),
        ("b", True),
    ]
    assert [(row["cluster"], row["seq"]) for row in tables["znode_events"]] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
    ]
