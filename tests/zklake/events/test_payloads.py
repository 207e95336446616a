from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zklake.events.kind import Kind, Sample
from zklake.events.kinds import KIND_BY_NAME, KINDS, UNKNOWN
from zklake.events.payloads.reading import Payload, Reason, Unreadable

SAMPLES = [
    pytest.param(kind, sample, id=f"{kind.name}, {sample.releases}")
    for kind in KINDS
    for sample in kind.samples
]
WITH_DATA = [kind for kind in KINDS if any(sample.data for sample in kind.samples)]


def decode(kind: str, data: bytes | None) -> Any:
    return KIND_BY_NAME[kind].decode(data)


def reason(kind: str, data: bytes | None) -> str:
    value = decode(kind, data)
    assert isinstance(value, Unreadable), value
    return value.reason


@pytest.mark.parametrize(("kind", "sample"), SAMPLES)
def test_every_sample_reads_and_can_be_written_down(kind: Kind, sample: Sample) -> None:
    payload = kind.decode(sample.data)
    assert isinstance(payload, Payload)
    assert msgspec.json.encode(payload)
    declared = re.search(rb'"version":"?(\d)', sample.data or b"")
    assert payload.version == (int(declared[1]) if declared else 0)


@pytest.mark.parametrize("kind", WITH_DATA, ids=lambda kind: kind.name)
def test_an_unknown_version_is_said_and_never_guessed(kind: Kind) -> None:
    for sample in kind.samples:
        higher, found = re.subn(
            rb'"version":("?)\d+', rb'"version":\g<1>99', sample.data or b"", count=1
        )
        if found and b"\\." not in higher:
            assert reason(kind.name, higher) == "unknown_version"


def test_broker_registrations_of_all_releases() -> None:
    kind = KIND_BY_NAME["broker"]
    old, *_, v4, v5 = [decode("broker", sample.data) for sample in kind.samples]
    assert old == decode("broker", b"10.0.0.5-1315436360737:10.0.0.5:9092")
    assert (old.host, old.port, old.creator_id) == ("10.0.0.5", 9092, "10.0.0.5-1315436360737")
    assert (v4.host, v4.port, v4.endpoints) == (None, -1, ("INT://k1.example:9094",))
    assert (v5.rack, v5.timestamp_ms) == ("az-a", 1794793246657)
    assert reason("broker", b"10.0.0.5:9092") == "not_recognised"
    assert reason("broker", b'{"version":4,"host":"h","port":1}') == "missing_field"
    assert reason("broker", b'{"version":1,"host":"h","port":"9092"}') == "wrong_type"


def test_partition_ids_of_a_topic_become_numbers_and_replicas_keep_their_order() -> None:
    topic = decode("topic", b'{"version":1,"partitions":{"10":[3,1],"2":[1]}}')
    assert topic.partitions == {10: (3, 1), 2: (1,)}
    assert reason("topic", b'{"version":1,"partitions":{"x":[1]}}') == "wrong_type"
    assert reason("topic", b'{"version":1}') == "missing_field"
    assert decode("topic", None).version == 0


def test_a_timestamp_may_be_a_string_or_a_number() -> None:
    text = decode("controller", b'{"version":1,"brokerid":2,"timestamp":"17"}')
    number = decode("controller", b'{"version":1,"brokerid":2,"timestamp":17}')
    assert text.timestamp_ms == number.timestamp_ms == 17
    assert reason("controller", b'{"version":1,"brokerid":2,"timestamp":"soon"}') == "wrong_type"


@pytest.mark.parametrize(
    "stored",
    [
        rb'{"version":1,"subscription":{"a\.\d+":2},"pattern":"white_list"}',
        rb'{"version":1,"subscription":{"a\\.\\d+":2},"pattern":"white_list"}',
        rb'{"version":1,"subscription":{"a\\\\.\\\\d+":2},"pattern":"white_list"}',
    ],
    ids=["0.8.0 raw", "0.8.2 once", "1.0 twice"],
)
def test_one_regex_is_one_regex_however_it_was_escaped(stored: bytes) -> None:
    consumer = decode("consumer", stored)
    assert (consumer.pattern, consumer.subscription) == ("white_list", {r"a\.\d+": 2})


def test_a_raw_escape_that_is_valid_json_is_still_the_regex() -> None:
    stored = rb'{"version":1,"subscription":{"\bord":1},"pattern":"black_list"}'
    assert decode("consumer", stored).subscription == {r"\bord": 1}


def test_consumers_of_0_7() -> None:
    assert decode("consumer", b'{ "orders": 2 }').subscription == {"orders": 2}
    assert decode("consumer", b'{ "version": 1 }').subscription == {"version": 1}
    assert decode("consumer", b"*2*ord.*").pattern == "white_list"
    assert decode("consumer", b"!2!tmp.*").subscription == {"tmp.*": 2}
    assert reason("consumer", b"*2!tmp.*") == "not_json"
    assert reason("consumer", b"orders") == "not_json"
    assert reason("consumer", b'{"version":1,"subscription":{"a":1}}') == "missing_field"


def test_an_unknown_pattern_is_static_as_kafka_takes_it() -> None:
    stored = b'{"version":1,"subscription":{"a":1},"pattern":"odd"}'
    assert decode("consumer", stored).pattern == "static"


def test_an_owner_is_cut_at_the_last_dash() -> None:
    owner = decode("owner", b"g-1_my-host-1794793318729-6a094f91-12")
    assert (owner.member_id, owner.stream) == ("g-1_my-host-1794793318729-6a094f91", 12)
    assert decode("owner", b"host:3f0e").stream is None
    assert reason("owner", b'{"password": 1}') == "not_recognised"


def test_offsets_are_64_bit_and_may_be_negative() -> None:
    assert decode("offset", b"9223372036854775807").offset == 2**63 - 1
    assert decode("offset", b"-1").offset == -1
    assert reason("offset", b"9223372036854775808") == "out_of_range"
    assert reason("offset", b"9" * 10_000) == "out_of_range"
    for odd in (b" 1", b"1\n", b"1.0", b"0x1", b"-", "٣".encode()):
        assert reason("offset", odd) == "not_a_number"


def test_changes_of_configs_in_three_forms() -> None:
    changes = [decode("config_change", s.data) for s in KIND_BY_NAME["config_change"].samples]
    assert [change.entity_path for change in changes] == [
        "topics/orders",
        "topics/orders",
        "users/al%2Fice/clients/c1",
    ]


def test_empty_where_kafka_leaves_it_empty() -> None:
    assert decode("user_config", None).config == {}
    assert decode("producer_id_block", b"").version == 0
    assert reason("partition_state", None) == "no_data"
    assert reason("broker", b"") == "no_data"
    assert reason("consumers_dir", b"x") == "unexpected_data"


def test_the_types_kafka_writes_are_kept_to() -> None:
    state = b'{"version":1,"leader":%b,"leader_epoch":1,"controller_epoch":1,"isr":[1]}'
    assert reason("partition_state", state % b'"1"') == "wrong_type"
    assert reason("partition_state", state % b"1.5") == "wrong_type"
    assert reason("partition_state", state % b"true") == "wrong_type"
    assert reason("partition_state", state % b"null") == "wrong_type"
    assert reason("partition_state", state % b"2147483648") == "out_of_range"
    assert reason("partition_state", state % (b"9" * 400)) == "out_of_range"
    assert reason("partition_state", b'{"version":"1"}') == "wrong_type"
    assert reason("partition_state", b'{"leader":1}') == "missing_field"
    assert reason("cluster_id", b'{"version":1,"id":"x"}') == "wrong_type"
    block = b'{"version":1,"broker":2,"block_start":3000,"block_end":"3999"}'
    assert reason("producer_id_block", block) == "wrong_type"


HOSTILE = {
    "not_utf8": b'{"version":1,"config":{"a":"\xff"}}',
    "not_json": b'{"version":1,',
    "too_deep": b'{"version":1,"x":' + b"[" * 200_000,
    "wrong_type": b"[]",
}


@pytest.mark.parametrize("expected", HOSTILE)
@pytest.mark.parametrize("kind", ["topic", "partition_state", "broker_config", "acl"])
def test_hostile_bytes_get_their_reason(kind: str, expected: str) -> None:
    assert reason(kind, HOSTILE[expected]) == expected


@pytest.mark.parametrize("kind", [*KINDS, UNKNOWN], ids=lambda kind: kind.name)
def test_no_reason_repeats_the_data(kind: Kind) -> None:
    canary = b"c4n4ry"
    for shape in (
        b"%b",
        b'{"version":"%b"}',
        b'{"version":1,"%b":1}',
        b'{"version":1,"config":{"%b":1},"partitions":{"%b":[1]},"subscription":{"%b":"%b"}}',
        b'{"version":5,"endpoints":"%b","listener_security_protocol_map":{"%b":3}}',
        b'"%b"',
        b"\xff%b",
    ):
        value = kind.decode(shape.replace(b"%b", canary))
        if isinstance(value, Unreadable):
            assert "c4n4ry" not in value.detail


def assert_total(kind: Kind, data: bytes | None) -> None:
    value = kind.decode(data)
    if isinstance(value, Unreadable):
        assert value.reason in get_args(Reason)
    else:
        msgspec.json.encode(value)


@given(st.sampled_from([*KINDS, UNKNOWN]), st.none() | st.binary())
def test_no_decoder_raises_on_any_bytes(kind: Kind, data: bytes | None) -> None:
    assert_total(kind, data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = sorted(
    {
        name.decode()
        for kind in KINDS
        for sample in kind.samples
        for name in re.findall(rb'"(\w+)":', sample.data or b"")
    }
)


@given(
    st.sampled_from(WITH_DATA), st.dictionaries(st.sampled_from(FIELDS), JSON), st.integers(0, 5)
)
def test_no_decoder_raises_on_known_fields_with_odd_values(
    kind: Kind, members: dict[str, Any], version: int
) -> None:
    assert_total(kind, msgspec.json.encode({"version": version} | members))


@st.composite
def mutated_samples(draw: st.DrawFn) -> tuple[Kind, bytes]:
    kind = draw(st.sampled_from(WITH_DATA))
    data = bytearray(draw(st.sampled_from([s.data for s in kind.samples if s.data])))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        cut = draw(st.integers(0, 6))
        scraps = [b"", b"{", b"}", b"[", b'"', b"\\", b"null", b"-1", b"9" * 30, b"1e9", b"\xff"]
        data[at : at + cut] = draw(st.sampled_from(scraps) | st.binary(max_size=4))
    return kind, bytes(data)


@given(mutated_samples())
def test_no_decoder_raises_on_mutated_samples(mutated: tuple[Kind, bytes]) -> None:
    assert_total(*mutated)
