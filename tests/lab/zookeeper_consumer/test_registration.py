from __future__ import annotations

import json
import re
import uuid

import pytest

from lab.zookeeper_consumer.registration import encode_registration, name_member, name_suffix
from lab.zookeeper_consumer.subscription import build_subscription
from zklake.events.payloads.consumer import Consumer, decode_consumer


def test_a_member_is_named_by_group_host_time_and_chance() -> None:
    name = name_member("g1", name_suffix("vm", 1794793318729, uuid.UUID("6a094f91" + "0" * 24)))
    assert name == "g1_vm-1794793318729-6a094f91"


def test_leading_zeros_of_the_random_part_go_as_in_java() -> None:
    suffix = name_suffix("vm", 1, uuid.UUID("000012345678abcd" + "0" * 16))
    assert suffix == "vm-1-12345678"


def test_names_differ_and_have_the_form() -> None:
    names = {name_member("g") for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch(r"g_.+-\d{13}-[0-9a-f]{8}", name) for name in names)


def test_consumer_id_replaces_the_part_after_the_group() -> None:
    assert name_member("my_group", "one") == "my_group_one"


def test_a_static_registration_is_that_of_the_original() -> None:
    member = Consumer(subscription={"orders": 2, "bills": 1})
    assert encode_registration(member, 1794793318899) == (
        b'{"version":1,"subscription":{"orders":2,"bills":1},"pattern":"static",'
        b'"timestamp":"1794793318899"}'
    )


@pytest.mark.parametrize(
    ("way", "pattern"), [("whitelist", "white_list"), ("blacklist", "black_list")]
)
def test_a_pattern_is_one_entry_escaped_once(way: str, pattern: str) -> None:
    member = build_subscription(streams=2, **{way: r"ord\.\d+, bil.*"})
    data = encode_registration(member, 7)
    assert json.loads(data) == {
        "version": 1,
        "subscription": {r"ord\.\d+|bil.*": 2},
        "pattern": pattern,
        "timestamp": "7",
    }
    decoded = decode_consumer(data)
    assert isinstance(decoded, Consumer)
    assert (decoded.pattern, decoded.subscription) == (pattern, member.subscription)
