"""The generator reaches every rule, and one seed is one log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.reference.fold.generator import generate
from tests.reference.fold.hostile import HOSTILE
from tests.reference.fold.payloads import COLUMNS
from tests.reference.fold.step_states import read_told
from tests.reference.fold.tables import KEYS, Tables, fold_events
from tests.reference.fold.values import value_of
from zklake.events.envelope import Event, decode, encode

SEEDS = 200
LENGTH = 150
INTERVALS = (
    "broker_membership",
    "topics",
    "partition_state",
    "consumer_membership",
    "ownership_history",
    "consumer_offsets",
    "cluster_state",
)
# No ephemerals there.
PERSISTENT = ("partition_state", "consumer_offsets", "cluster_state")


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return [event for seed in range(SEEDS) for event in generate(seed, f"c{seed}", LENGTH)]


@pytest.fixture(scope="module")
def tables(events: list[Event]) -> Tables:
    return fold_events(events)


def test_one_seed_is_one_log() -> None:
    assert generate(7, "a", 300) == generate(7, "a", 300)
    assert generate(7, "a", 300) != generate(8, "a", 300)
    assert generate(7, "a", 100) == generate(7, "a", 300)[:100]


def test_logs_can_be_written_and_are_in_order(events: list[Event]) -> None:
    assert [decode(encode(event)) for event in events] == events
    for before, after in pairwise(events):
        if before.cluster == after.cluster:
            assert before.seq <= after.seq
            assert before.observed_at_ms <= after.observed_at_ms
            assert before.seq != after.seq or before == after


def test_every_op_and_form_of_data_comes_up(events: list[Event]) -> None:
    ops = Counter(event.op for event in events)
    words = "create set delete read gap frame_begin in_sync heartbeat unreadable seq_hole"
    samples = {"log_ends", "group_commit", "group_state"}
    assert {*words.split(), *samples} == set(ops)
    for form in ("data", "data_b64", "data_zlib_b64", "zxid"):
        assert sum(getattr(event, form) is not None for event in events) > 10, form
    assert sum(before == after for before, after in pairwise(events)) > 100


def test_every_way_to_end_comes_up_in_every_table(tables: Tables) -> None:
    common = {None, "changed", "deleted", "recreated", "resync", "unreadable"}
    for table in (*INTERVALS, "controller"):
        expected = set(common)
        if table not in PERSISTENT:
            expected.add("session_ended")
        if table == "broker_membership":
            expected.add("migrated")
        assert {row["ended_by"] for row in tables[table]} == expected, table
        for word in ("is_clamped", "valid_to_at_min", "is_known", "session", "valid_from_at"):
            values = {bool(row[word]) for row in tables[table] if word in row}
            assert values in ({True, False}, set()), (table, word)


def test_kafka_groups_end_in_every_way(tables: Tables) -> None:
    common = {None, "changed", "deleted", "resync"}
    for table in ("consumer_membership", "ownership_history", "consumer_offsets"):
        rows = [row for row in tables[table] if row["coordinator"] == "kafka"]
        expected = common if table == "consumer_offsets" else {*common, "unreadable"}
        assert {row["ended_by"] for row in rows} == expected, table
        assert any(row["seen_seq"] > row["valid_from_seq"] for row in rows), table
        assert {row["is_clamped"] for row in rows} == {True, False}, table


def test_every_decode_error_comes_up(tables: Tables) -> None:
    words = {row["decode_error"] for table in INTERVALS for row in tables[table]}
    assert words == {None, "no_data", "not_utf8", "unknown_version", "malformed"}


def test_configs_and_operations_end_in_every_way(tables: Tables) -> None:
    common = {None, "changed", "recreated", "unreadable", "resync", "deleted"}
    configs, operations = tables["config_history"], tables["admin_operations"]
    assert {row["ended_by"] for row in configs} == {*common, "removed"}
    own = ("finished", "refused", "cancelled")
    assert {row["ended_by"] for row in operations} == {*common, *own}
    moves = [row for row in operations if row["adding_replicas"] or row["removing_replicas"]]
    # Inferred, asked for and seen, overridden, kept by a request.
    assert {row["is_inferred"] for row in moves} == {True, False}
    assert {row["operation"] for row in operations if row["partition"] is None} == {
        "reassignment",
        "preferred_election",
        "topic_deletion",
    }
    for word in ("is_redacted", "data_hash", "value", "client_id", "config_key", "decode_error"):
        assert {bool(row[word]) for row in configs} == {True, False}, word


def test_gaps_of_all_sorts_come_up(tables: Tables) -> None:
    rows = tables["log_gaps"]
    assert {row["is_open"] for row in rows} == {True, False}
    assert {row["is_clamped"] for row in rows} == {True, False}
    assert {bool(row["missed"]) for row in rows} == {True, False}
    assert any(row["lives"] and row["path"] for row in rows)
    assert any(row["lives"] and not row["path"] for row in rows)
    assert len(tables["znode_events"]) > SEEDS * LENGTH * 0.8


def test_rows_of_old_forms_and_unseen_versions_come_up(tables: Tables) -> None:
    assert any(row["broker_id"] is not None for row in tables["topics"])
    assert any(row["broker_id"] is not None for row in tables["ownership_history"])
    assert any(row["registration_version"] == 0 for row in tables["broker_membership"])
    assert any(row["unseen_versions"] for row in tables["partition_state"])
    assert any(row["seen_seq"] > row["valid_from_seq"] for row in tables["topics"])
    assert any((row["kraft_controller_epoch"] or 0) > 0 for row in tables["controller"])
    assert any(row["controller_epoch"] for row in tables["controller"])


def test_a_hole_makes_a_frame_on_the_model_close_rows(events: list[Event], tables: Tables) -> None:
    models = {
        (event.cluster, event.seq)
        for event in events
        if event.op == "in_sync" and event.frame and event.frame.base == "model"
    }
    closed = [row for row in closures(tables) if (row["cluster"], row["valid_to_seq"]) in models]
    assert len(closed) > 10


def closures(tables: Tables) -> Iterator[dict[str, object]]:
    for table in INTERVALS:
        yield from (row for row in tables[table] if row["ended_by"] == "resync")


def test_rows_of_one_key_never_overlap(tables: Tables) -> None:
    """Of each key at most one row is open, and each begins not before the last one's end."""
    for table in (*INTERVALS, "config_history", "admin_operations"):
        by_path: dict[tuple[object, ...], list[dict[str, object]]] = {}
        for row in tables[table]:
            by_path.setdefault(tuple(row[name] for name in ("cluster", *KEYS[table])), []).append(
                row
            )
        for rows in by_path.values():
            for before, after in pairwise(rows):
                assert before["is_open"] is False
                assert before["valid_to_seq"] <= after["valid_from_seq"]  # type: ignore[operator]


def test_hostile_values_are_refused_or_read_and_never_stop_the_fold() -> None:
    for kind, values in HOSTILE.items():
        texts = [data.decode(errors="replace") for data in values]
        events = [Event("c", "l", 1, "set", 0, kind=kind, data=text) for text in texts]
        if kind in COLUMNS:
            known = sum(value_of(event).is_known for event in events)
        else:
            known = sum(read_told(event).payload is not None for event in events)
        # Nothing may be written into /brokers/seqid.
        assert (known > 0) == (kind != "broker_seqid"), kind
        assert known < len(values), kind
