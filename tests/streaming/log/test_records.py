"""Whatever bytes a record holds, it is an event of this log or has a reason why not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.log.continuity import LONGEST_JUMP, Continuity, Entry
from streaming.log.records import LogPosition, Rejected, judge_record
from zklake.events.envelope import Event, Gap, encode

EVENT: dict[str, Any] = {
    "v": 1,
    "cluster": "c",
    "log_id": "l",
    "seq": 5,
    "op": "set",
    "observed_at_ms": 1000,
    "path": "/x",
}
WORDS = st.sampled_from([*EVENT, "stat", "gap", "frame", "log_ends", "group_commit", "kind"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4)
)


@given(st.binary(max_size=200))
def test_no_bytes_raise(value: bytes) -> None:
    assert isinstance(judge_record(value, "c", "l"), Event | Rejected)


@given(st.dictionaries(WORDS, VALUES))
def test_no_fields_raise_and_an_event_can_be_written_again(fields: dict[str, Any]) -> None:
    judged = judge_record(msgspec.json.encode({**EVENT, **fields}), "c", "l")
    if isinstance(judged, Event):
        assert judge_record(encode(judged), "c", "l") == judged
    else:
        assert judged.reason


def test_the_first_event_of_a_lake_may_be_of_any_log() -> None:
    value = msgspec.json.encode(EVENT)
    assert isinstance(judge_record(value, "c", None), Event)
    assert judge_record(value, "c", "other") == Rejected("of another log: l")


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"v": 2}, LogPosition(5, 1000)),
        ({"v": 2, "op": "merge"}, LogPosition(5, 1000)),
        ({"v": 2, "cluster": "d"}, None),
        ({"v": 2, "log_id": "other"}, None),
        ({"v": 2, "observed_at_ms": -1}, None),
        ({"v": 2, "seq": "five"}, None),
    ],
)
def test_a_newer_event_of_this_log_has_its_place(
    fields: dict[str, Any], place: LogPosition
) -> None:
    judged = judge_record(msgspec.json.encode({**EVENT, **fields}), "c", "l")
    assert judged == Rejected("event version 2 is newer than this zklake reads (1)", place)


def go_on(continuity: Continuity, seq: int, offset: int) -> list[Entry] | str:
    return continuity.judge(LogPosition(seq, 1000 + seq), offset)


def test_the_next_record_tells_nothing() -> None:
    continuity = Continuity("c", "l", 7)
    assert go_on(continuity, 8, 1) == []
    assert go_on(Continuity("c", "l"), 123, 0) == [], "whatever comes first"


def test_a_hole_is_told_with_what_is_missing() -> None:
    continuity = Continuity("c", "l", 7, 900)
    told = go_on(continuity, 11, 3)
    gap = Gap("seq_hole-3", "seq_hole", from_ms=900)
    hole = Event("c", "l", 10, "seq_hole", 1011, path="/", gap=gap, missed=3)
    assert told == [Entry(hole, 3)]
    assert go_on(continuity, 12, 4) == []


def test_what_comes_again_is_told_before_the_next_good_record() -> None:
    continuity = Continuity("c", "l", 7)
    assert go_on(continuity, 6, 3) == "seq 6 stands at an earlier offset already"
    assert go_on(continuity, 7, 4) == "seq 7 stands at an earlier offset already"
    assert go_on(continuity, 8, 5) == []
    told = continuity.emit_repeats(8)
    assert [(each.event.op, each.event.seq, each.offset) for each in told] == [
        ("seq_repeat", 8, 3),
        ("seq_repeat", 8, 4),
    ]
    assert not continuity.has_repeats


def test_no_log_jumps_further_than_a_count_can_say() -> None:
    continuity = Continuity("c", "l", 7)
    assert "no log jumps that far" in str(go_on(continuity, 8 + LONGEST_JUMP, 1))
    assert go_on(continuity, 8, 2) == [], "the stray one did not count"
    told = go_on(continuity, 8 + LONGEST_JUMP, 3)
    assert isinstance(told, list)
    assert [each.event.missed for each in told] == [LONGEST_JUMP - 1]
