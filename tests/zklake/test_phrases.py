"""Values as people read them; every value that a column can hold has a phrase."""

from __future__ import annotations

from typing import get_args

import pytest

from dashboard.openapi.rows import WORDS
from delta_tables.table import ENDED_BY
from zklake.events.envelope import GapReason
from zklake.phrases import (
    format_action,
    format_coordinator,
    format_count,
    format_end,
    format_gap,
    format_operation,
    format_trigger,
    format_trigger_kind,
)


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "partition", "0 partitions"),
        (1, "partition", "1 partition"),
        (1_200, "partition", "1,200 partitions"),
        (2, "batch", "2 batches"),
    ],
)
def test_count_and_noun_agree(count: int, noun: str, text: str) -> None:
    assert format_count(count, noun) == text


@pytest.mark.parametrize(
    ("trigger", "member", "topic", "text"),
    [
        ("member_joined", "readers_c", None, "readers_c joined"),
        ("member_left", None, None, "a member left"),
        ("session_ended", "readers_{}", None, "session of readers_{} ended"),
        ("partitions_added", None, "orders", "partitions added to orders"),
        ("unknown", "readers_c", None, "trigger unknown"),
        ("moon_phase", None, "orders", "moon phase: orders"),
    ],
)
def test_a_trigger_names_who_did_it(
    trigger: str, member: str | None, topic: str | None, text: str
) -> None:
    assert format_trigger(trigger, member, topic) == text


def test_no_value_reaches_a_sentence_as_it_is() -> None:
    said = [
        *map(format_end, ENDED_BY),
        *map(format_trigger, WORDS["trigger"]),
        *map(format_operation, WORDS["operation"]),
        *map(format_gap, get_args(GapReason)),
    ]
    assert [text for text in said if "_" in text] == []
    assert (format_end("session_ended"), format_end(None)) == ("session ended", "")
    assert format_gap(None) == "reason unknown"


def test_a_kind_of_trigger_names_nobody() -> None:
    kinds = [format_trigger_kind(word) for word in ("member_joined", "session_ended")]
    assert kinds[1] == format_trigger_kind("session_expired") == "Session ended"
    assert kinds == ["Member joined", "Session ended"]
    assert [format_coordinator(one) for one in WORDS["coordinator"]] == ["ZooKeeper", "Kafka"]


def test_how_somebody_left_is_said_where_it_is_known() -> None:
    said = [format_trigger("session_ended", "g_a", None, how) for how in ("clean", "crashed")]
    assert said == ["g_a stopped cleanly", "g_a crashed"]
    assert format_trigger("session_ended", None, None, "unknown") == "a session ended"
    assert format_end("session_ended", "crashed") == "session ended, crashed"
    assert format_end("session_ended", "unknown") == "session ended"


@pytest.mark.parametrize("word", ["session_closed", "session_expired"])
def test_rows_of_an_older_lake_read_the_same(word: str) -> None:
    assert format_end(word) == format_end("session_ended")
    assert format_trigger(word, "g_a") == format_trigger("session_ended", "g_a")
    assert format_gap("session_expired") == "ZooKeeper session expired"


def test_what_follows_an_operation_stays() -> None:
    text = "preferred_election of partition 3"
    assert format_operation(text) == "preferred leader election of partition 3"
    assert [format_action(what) for what in ("asked for", "set")] == ["requested", "set"]
