from __future__ import annotations

from typing import Any

import msgspec
import pytest

from delta_tables.tables.broker_membership import BROKER_MEMBERSHIP as TABLE
from tests.streaming.fold.engine import Engine
from tests.streaming.story import BORN_MS, Story, registration
from zklake.events.envelope import Event

Row = dict[str, Any]


def run(batches: list[list[Event]]) -> list[Row]:
    engine = Engine()
    for batch in batches:
        engine.fold(batch)
    engine.finish()
    return engine.rows(TABLE.name)


def test_a_broker_killed_and_back_is_two_lives() -> None:
    story = Story().register(1, czxid=10).leave(1, czxid=10, zxid=20).register(1, czxid=30)
    first, second = run([story.events])

    assert (first["broker_id"], first["czxid"], first["broker_epoch"]) == (1, 10, 10)
    assert first["endpoints"] == ["PLAINTEXT://k1:9092"]
    assert (first["host"], first["port"], first["rack"]) == ("k1", 9092, "az-a")
    assert (first["jmx_port"], first["registration_version"], first["session"]) == (-1, 5, 0xABC)
    assert (first["valid_from_seq"], first["valid_to_seq"]) == (1001, 1002)
    assert (first["valid_from_zxid"], first["valid_to_zxid"]) == (10, 20)
    assert (first["ended_by"], first["is_open"], first["fidelity"]) == ("deleted", False, "exact")
    assert first["valid_from_at"].timestamp() * 1000 == BORN_MS + 1000 - 5
    assert first["valid_to_at"].timestamp() * 1000 == BORN_MS + 2000
    assert first["closed_on"] == first["valid_to_at"].date()
    assert (second["czxid"], second["is_open"], second["valid_to_seq"]) == (30, True, None)
    assert (second["ended_by"], second["closed_on"]) == (None, None)


def test_a_listener_change_is_a_new_state_of_the_same_life() -> None:
    story = Story().register(1, czxid=10).alter(1, czxid=10, version=2, zxid=15, port=9099)
    first, second = run([story.events])
    assert (first["ended_by"], first["valid_to_at"]) == ("changed", second["valid_from_at"])
    assert (first["czxid"], second["czxid"], second["port"]) == (10, 10, 9099)
    assert (second["znode_version"], second["unseen_versions"]) == (2, 0)


def test_a_superseded_write_is_no_state_but_counted() -> None:
    story = Story().register(1, czxid=10)
    story.broker("set", 1, zxid=15, fidelity="superseded")
    story.alter(1, czxid=10, version=3, zxid=16, port=9099)
    first, second = run([story.events])
    assert (first["valid_to_seq"], first["seen_seq"]) == (1003, 1002)
    assert second["unseen_versions"] == 1


def test_a_create_without_data_is_a_row_without_payload() -> None:
    story = Story().broker("create", 1, zxid=10, fidelity="superseded")
    story.leave(1, czxid=10, zxid=11)
    (row,) = run([story.events])
    assert (row["endpoints"], row["host"], row["is_known"]) == (None, None, False)
    assert (row["fidelity"], row["ended_by"], row["decode_error"]) == (
        "superseded",
        "deleted",
        None,
    )


@pytest.mark.parametrize("data", ["", "no json", "[1]", '{"version":"x","host":1,"port":"p"}', "7"])
def test_an_undecodable_value_ends_the_state_and_heals(data: str) -> None:
    story = Story().register(1, czxid=10)
    story.broker("set", 1, zxid=15, data=data, stat=story.stat(10, 2, 15))
    story.alter(1, czxid=10, version=3, zxid=16, port=9099)
    first, broken, healed = run([story.events])
    assert first["ended_by"] == "unreadable"
    assert (broken["endpoints"], broken["port"], broken["is_known"]) == (None, None, False)
    assert (broken["decode_error"] is not None, broken["ended_by"]) == (True, "changed")
    assert (healed["port"], healed["is_known"], healed["decode_error"]) == (9099, True, None)


def test_a_read_says_nothing_new_or_a_new_state() -> None:
    story = Story().register(1, czxid=10).read(1, czxid=10, version=1)
    story.read(1, czxid=10, version=4, port=9099).read(1, czxid=77, version=1, port=9077)
    first, second, third = run([story.events])
    assert (first["valid_to_seq"], first["ended_by"], first["seen_seq"]) == (1003, "changed", 1002)
    assert (second["unseen_versions"], second["ended_by"]) == (2, "recreated")
    assert (third["czxid"], third["unseen_versions"], third["is_open"]) == (77, 0, True)


def test_a_version_1_registration_has_an_endpoint_too() -> None:
    story = Story()
    data = '{"jmx_port":9999,"timestamp":"1","host":"old","version":1,"port":9092}'
    story.broker("create", 1, data=data, stat=story.stat(10))
    assert run([story.events])[0]["endpoints"] == ["PLAINTEXT://old:9092"]


def test_an_end_is_never_before_the_beginning() -> None:
    story = Story().register(1, czxid=10)
    story.add(op="delete", path="/brokers/ids/1", kind="broker", observed_at_ms=BORN_MS - 9000)
    (row,) = run([story.events])
    assert row["valid_to_at"] == row["valid_from_at"]
    assert row["is_clamped"]


def test_a_frame_without_a_base_closes_what_it_did_not_meet() -> None:
    story = Story().register(1, czxid=10).register(2, czxid=11)
    story.begin_frame("f").read(2, czxid=11).end_frame("f", base="none")
    gone, met = run([story.events])
    assert (gone["broker_id"], gone["ended_by"], gone["valid_to_seq"]) == (1, "resync", 1006)
    assert (met["broker_id"], met["is_open"], met["seen_seq"]) == (2, True, 1005)


def test_a_frame_on_the_model_closes_nothing() -> None:
    story = Story().register(1, czxid=10).begin_frame("f").end_frame("f", base="model")
    assert [row["is_open"] for row in run([story.events])] == [True]


def test_the_same_event_twice_in_a_batch_counts_once() -> None:
    events = Story().register(1, czxid=10).leave(1, czxid=10, zxid=20).events
    assert run([[*events, *events]]) == run([events])


def test_a_broker_id_that_is_none_makes_no_row() -> None:
    story = Story().register(1, czxid=10)
    # More digits than Python reads, too.
    for czxid, number in ((11, "99999999999"), (12, "9" * 5000)):
        path = f"/brokers/ids/{number}"
        story.add(op="create", path=path, kind="broker", data="{}", stat=story.stat(czxid))
    assert [row["broker_id"] for row in run([story.events])] == [1]


def test_wild_times_do_not_stop_the_fold() -> None:
    story = Story()
    stat = msgspec.structs.replace(story.stat(10), mtime=2**62, ctime=-5)
    story.broker("read", 1, data=registration(9092), stat=stat)
    assert run([story.events])[0]["valid_from_at"] is None
