"""`__consumer_offsets` decoded: a real broker's bytes, every older version, and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.zklake.events import offsets_records as made
from zklake.events.offsets_topic.consumer_protocol import read_assignment, read_subscription
from zklake.events.offsets_topic.records import METADATA_CHARACTERS, decode_record
from zklake.events.offsets_topic.wire import Malformed, Reader
from zklake.events.payloads.reading import Unreadable
from zklake.events.samples import Commit, GroupState, Member, TopicPartitions

# What Kafka 3.9.2 wrote for real consumers (librdkafka): an eager group with a static member, a
# cooperative one, an offset in a transaction, one without a group, and two groups deleted.
REAL = json.loads((Path(__file__).parent / "offsets_topic_3_9_2.json").read_text())
KEY = made.commit_key("g", "orders", 3)
GROUP = made.group_key("g")


def read_real(group: str) -> tuple[list[Commit], list[GroupState]]:
    found = [
        decode_record(
            bytes.fromhex(each["key"]),
            None if each["value"] is None else bytes.fromhex(each["value"]),
            each["at_ms"],
        )
        for each in REAL
    ]
    assert all(isinstance(each, Commit | GroupState) for each in found)
    commits = [each for each in found if isinstance(each, Commit) and each.group_id == group]
    states = [each for each in found if isinstance(each, GroupState) and each.group_id == group]
    return commits, states


def test_a_real_eager_group() -> None:
    commits, (state,) = read_real("g-eager")
    assert (state.state, state.generation, state.protocol) == ("Stable", 1, "range")
    assert state.members is not None
    one, two = state.members
    assert (one.client_id, one.group_instance_id, one.client_host) == ("one", None, "127.0.0.1")
    assert (two.client_id, two.group_instance_id) == ("two", "inst-2")
    assert (one.session_timeout_ms, one.rebalance_timeout_ms) == (6000, 300_000)
    assert (one.subscription, two.subscription) == (("bills", "orders"), ("orders",))
    assert one.assignment == (TopicPartitions("bills", (0, 1)), TopicPartitions("orders", (2, 3)))
    assert two.assignment == (TopicPartitions("orders", (0, 1)),)
    assert state.leader == two.member_id
    last = {(c.topic, c.partition): c for c in commits}
    assert {key: c.committed_offset for key, c in last.items()} == {
        ("bills", 0): 50,
        ("bills", 1): 50,
        ("orders", 0): 7,
        ("orders", 1): 25,
        ("orders", 2): 25,
        ("orders", 3): 25,
    }
    assert last["bills", 0].leader_epoch == 0
    # The client sent its own terminating zero too.
    assert last["orders", 0].metadata == 'métadata "x"��'
    assert all(c.commit_at_ms and c.expire_at_ms is None for c in commits)


def test_a_real_cooperative_group_from_birth_to_death() -> None:
    commits, states = read_real("g-coop")
    assert [s.state for s in states] == ["Stable"] * 3 + ["Empty", "Dead"]
    assert [s.generation for s in states] == [1, 2, 3, 4, None]
    assigned = [{m.client_id: m.assignment for m in state.members or ()} for state in states[:3]]
    first, last = (TopicPartitions("orders", (0, 1)),), (TopicPartitions("orders", (2, 3)),)
    assert assigned[0] == {"three": (TopicPartitions("orders", (0, 1, 2, 3)),)}
    assert assigned[1] == {"four": (), "three": last}
    assert assigned[2] == {"four": first, "three": last}
    assert [c.tombstone for c in commits] == [False] * 3 + [True] * 3
    assert all(c.commit_at_ms for c in commits)


def test_real_commits_without_a_member() -> None:
    (in_transaction,), no_states = read_real("g-tx")
    assert (in_transaction.committed_offset, no_states) == (11, [])
    assert [c.committed_offset for c in read_real("g-simple")[0]] == [5, None]


@pytest.mark.parametrize("key_version", [0, 1])
@pytest.mark.parametrize("version", range(5))
def test_commits_of_every_version(key_version: int, version: int) -> None:
    key = made.commit_key("g", "orders", 3, key_version)
    value = made.commit_value(version, 42, "note", at=1000, epoch=7, expire=2000)
    assert decode_record(key, value) == Commit(
        "g",
        "orders",
        3,
        committed_offset=42,
        leader_epoch=7 if version >= 3 else None,
        metadata="note",
        commit_at_ms=1000,
        expire_at_ms=2000 if version == 1 else None,
    )


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("inner", range(4))
def test_groups_of_every_version(version: int, inner: int) -> None:
    subscribed = made.subscription(inner, ["orders", "bills"])
    assigned = made.assignment(inner, {"orders": [2, 0], "bills": [1]})
    members = [made.member(version, number, subscribed, assigned) for number in range(2)]
    state = decode_record(GROUP, made.group_value(version, "consumer", members), at_ms=99)
    topics = (TopicPartitions("bills", (1,)), TopicPartitions("orders", (0, 2)))
    assert isinstance(state, GroupState)
    assert state.members == tuple(
        Member(
            f"m{number}",
            f"i{number}" if number % 2 and version >= 3 else None,
            "c",
            "127.0.0.1",
            45_000,
            300_000 if version >= 1 else None,
            ("bills", "orders"),
            topics,
        )
        for number in range(2)
    )
    said = (state.group_id, state.state, state.generation, state.protocol_type, state.protocol)
    assert said == ("g", "Stable", 5, "consumer", "range")
    assert (state.leader, state.at_ms, state.member_count) == ("m0", 77 if version >= 2 else 99, 2)


@pytest.mark.parametrize("version", range(5))
def test_an_empty_group(version: int) -> None:
    state = decode_record(GROUP, made.group_value(version, "consumer", []))
    assert isinstance(state, GroupState)
    assert (state.state, state.members, state.leader) == ("Empty", (), None)


def test_tombstones_carry_the_time_of_their_record() -> None:
    gone = Commit("g", "orders", 3, commit_at_ms=5, tombstone=True)
    assert decode_record(KEY, None, 5) == gone
    assert decode_record(GROUP, None, 5) == GroupState("g", state="Dead", at_ms=5, tombstone=True)


def test_connect_and_strangers_have_members_without_topics() -> None:
    members = [made.member(3, 0, b"\x00\x01\x00\x00\x00\x07http://", b"\xff" * 40)]
    state = decode_record(GROUP, made.group_value(3, "connect", members))
    assert isinstance(state, GroupState)
    assert state.members is not None
    assert (state.members[0].subscription, state.members[0].assignment) == (None, None)


@pytest.mark.parametrize("version", [3, 4, 5, 8, 9, 15, 99, -1])
def test_keys_of_other_types_are_passed_over(version: int) -> None:
    assert decode_record(made.i16(version) + made.text("g"), b"anything") is None


@pytest.mark.parametrize("version", [-1, 5, 300])
@pytest.mark.parametrize("key", [KEY, GROUP], ids=["commit", "group"])
def test_a_value_of_a_newer_version_is_unreadable(key: bytes, version: int) -> None:
    found = decode_record(key, made.i16(version) + b"\x00" * 100)
    assert isinstance(found, Unreadable)
    assert found.reason == "unknown_version"


def test_a_newer_consumer_protocol_is_read_by_the_form_we_know() -> None:
    assert read_subscription(made.subscription(3, ["b", "a"])[2:].join([made.i16(9), b""])) == (
        "a",
        "b",
    )
    assert read_assignment(b"") == ()
    assert read_assignment(None) is None


def test_notes_of_clients_are_cut_and_cleaned() -> None:
    commit = decode_record(KEY, made.commit_value(3, 1, "a\n\x1b[31m\u202eé" + "x" * 4000))
    assert isinstance(commit, Commit)
    assert commit.metadata is not None
    assert commit.metadata.startswith("a��[31m�éx")
    assert len(commit.metadata) == METADATA_CHARACTERS


@pytest.mark.parametrize(
    "note",
    [
        "password=x7f3a",
        '{"token":"x7f3a"}',
        "Bearer x7f3a",
        "https://x7f3a@h/",
        "a" * 300 + "pwd=x",
    ],
)
def test_a_note_that_looks_like_a_credential_is_masked(note: str) -> None:
    commit = decode_record(KEY, made.commit_value(3, 1, note))
    assert isinstance(commit, Commit)
    assert commit.metadata == "[redacted]"


def test_a_value_with_tagged_fields_of_a_newer_release() -> None:
    value = made.commit_value(4, 42, at=1)[:-1] + b"\x01\x00\x10" + b"\x07" * 16
    commit = decode_record(KEY, value)
    assert isinstance(commit, Commit)
    assert commit.committed_offset == 42


# Hostile bytes.

SEEDS = [(KEY, made.commit_value(version, 42, "note")) for version in range(5)] + [
    (
        GROUP,
        made.group_value(
            version,
            "consumer",
            [made.member(version, 1, made.subscription(3, ["t"]), made.assignment(3, {"t": [0]}))],
        ),
    )
    for version in range(5)
]


def is_decoded_or_refused(told: Commit | GroupState | Unreadable | None) -> bool:
    return told is None or isinstance(told, Unreadable) or can_be_told(told)


def can_be_told(told: object) -> bool:
    """Whatever was read must fit into an event, and come back from it the same."""
    return msgspec.json.decode(msgspec.json.encode(told), type=type(told)) == told


@given(st.binary(max_size=200) | st.none(), st.binary(max_size=400) | st.none())
def test_any_bytes_are_decoded_or_refused(key: bytes | None, value: bytes | None) -> None:
    assert is_decoded_or_refused(decode_record(key, value))


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255))))
def test_damaged_records_are_decoded_or_refused(
    seed: tuple[bytes, bytes], damage: list[tuple[int, int]]
) -> None:
    key, value = map(bytearray, seed)
    for place, byte in damage:
        value[place % len(value)] = byte
        key[place % len(key)] = byte if place % 7 == 0 else key[place % len(key)]
    assert is_decoded_or_refused(decode_record(bytes(key), bytes(value)))


@pytest.mark.parametrize("seed", SEEDS)
def test_records_cut_short_are_refused(seed: tuple[bytes, bytes]) -> None:
    key, value = seed
    for size in range(len(value) - 1):
        assert isinstance(decode_record(key, value[:size]), Unreadable), size
    for size in range(len(key) - 1):
        assert isinstance(decode_record(key[:size], value), Unreadable), size


@given(st.binary(max_size=100))
def test_any_subscription_is_read_or_refused(data: bytes) -> None:
    member = Member("m", subscription=read_subscription(data), assignment=read_assignment(data))
    assert can_be_told(member)


def test_a_count_larger_than_its_bytes_costs_nothing() -> None:
    reader = Reader(made.i32(2**31 - 1))
    with pytest.raises(Malformed, match="more elements"):
        reader.array(reader.int32)
    assert read_subscription(made.i16(0) + made.i32(2**31 - 1)) is None


@given(st.integers(0, 2**32 - 1))
def test_varints(number: int) -> None:
    assert Reader(made.varint(number)).varint() == number
