"""admin_operations of the plain fold: requests under /admin, and replicas that move."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reference.fold.script import Script

R = ("reassignment", "/admin/reassign_partitions")
E = ("preferred_election", "/admin/preferred_replica_election")
D = ("topic_deletion", "/admin/delete_topics/o")
T = ("topic", "/brokers/topics/o")
BRIEF = ("partition", "replicas", "valid_from_seq", "valid_to_seq", "ended_by")
Replicas = list[int]


def ask(**wanted: Replicas | None) -> str:
    """By name of topic and partition: o0=[4, 5]."""
    partitions = [
        {"topic": name[0], "partition": int(name[1])} | ({"replicas": of} if of else {})
        for name, of in wanted.items()
    ]
    return json.dumps({"version": 1, "partitions": partitions})


def assign(
    replicas: Replicas, adding: Replicas | None = None, removing: Replicas | None = None
) -> str:
    """Partition 0 of the topic."""
    moves = {"adding_replicas": {"0": adding}} if adding else {"adding_replicas": {}}
    moves |= {"removing_replicas": {"0": removing}} if removing else {"removing_replicas": {}}
    return json.dumps({"version": 2, "partitions": {"0": replicas}, **moves})


MOVING = assign([4, 5, 1, 2], [4, 5], [1, 2])
DONE = assign([4, 5])


def in_order(log: Script, *columns: str) -> list[Any]:
    rows = sorted(log.rows("admin_operations"), key=lambda row: row["valid_from_seq"])
    return [tuple(row[column] for column in columns) for row in rows]


def test_a_request_that_shrinks_until_it_is_done() -> None:
    log = Script().say("create", *R, data=ask(o0=[4, 5], o1=[5, 6]), czxid=7)
    log.say("set", *R, data=ask(o1=[5, 6]), czxid=7, version=1).say("delete", *R, zxid=9)
    columns = (*BRIEF, "seen_seq", "is_inferred", "adding_replicas")
    assert in_order(log, *columns) == [
        (0, [4, 5], 1, 2, "finished", 1, False, None),
        (1, [5, 6], 1, 3, "finished", 2, False, None),
    ]
    assert log.rows("admin_operations")[1] == {
        "cluster": "c",
        "operation": "reassignment",
        "topic": "o",
        "partition": 1,
        "replicas": [5, 6],
        "adding_replicas": None,
        "removing_replicas": None,
        "is_inferred": False,
        "czxid": 7,
        "znode_version": 0,
        "fidelity": "exact",
        "is_known": True,
        "decode_error": None,
        "seen_seq": 2,
        "valid_from_seq": 1,
        "valid_from_zxid": 7,
        "valid_from_at": 1000,
        "valid_to_seq": 3,
        "valid_to_zxid": 9,
        "valid_to_at": 3000,
        "valid_to_at_min": None,
        "is_clamped": False,
        "is_open": False,
        "ended_by": "finished",
        "closed_on": "1970-01-01",
    }


@pytest.mark.parametrize(
    ("last", "word"),
    [(DONE, "finished"), (assign([5, 4]), "finished"), (assign([2, 1]), "cancelled")],
)
def test_the_api_leaves_no_request_but_replicas_that_move(last: str, word: str) -> None:
    log = Script().say("set", *T, data=MOVING).say("set", *T, data=last)
    columns = (*BRIEF, "is_inferred", "adding_replicas", "removing_replicas")
    assert in_order(log, *columns) == [(0, [4, 5], 1, 2, word, True, [4, 5], [1, 2])]


@pytest.mark.parametrize("is_withdrawn_first", [False, True])
def test_request_and_move_are_one_row(is_withdrawn_first: bool) -> None:
    log = Script().say("create", *R, data=ask(o0=[4, 5])).say("set", *T, data=MOVING)
    if is_withdrawn_first:
        log.say("delete", *R).say("set", *T, data=DONE)
    else:
        log.say("set", *T, data=DONE).say("delete", *R)
    columns = (*BRIEF, "is_inferred", "adding_replicas", "seen_seq")
    assert in_order(log, *columns) == [(0, [4, 5], 1, 4, "finished", False, [4, 5], 2)]


def test_a_request_that_comes_later_explains_the_move() -> None:
    log = Script().say("set", *T, data=MOVING, czxid=3, version=4)
    log.say("create", *R, data=ask(o0=[4, 5]), czxid=9)
    columns = (*BRIEF, "is_inferred", "czxid", "znode_version", "seen_seq")
    assert in_order(log, *columns) == [(0, [4, 5], 1, None, None, False, 3, 4, 2)]


def test_another_target_is_another_row() -> None:
    log = Script().say("set", *T, data=MOVING)
    log.say("set", *T, data=assign([7, 5, 1, 2], [7, 5], [1, 2]))
    log.say("create", *R, data=ask(o0=[5, 7])).say("delete", *R)
    assert in_order(log, *BRIEF, "is_inferred", "adding_replicas") == [
        (0, [4, 5], 1, 2, "changed", True, [4, 5]),
        (0, [7, 5], 2, 3, "changed", True, [7, 5]),
        (0, [5, 7], 3, 4, "changed", False, [7, 5]),
        (0, [7, 5], 4, None, None, True, [7, 5]),
    ]


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ({"op": "delete"}, "deleted"),
        ({"op": "create", "data": DONE}, "recreated"),
        ({"op": "set", "data": DONE, "czxid": 4}, "recreated"),
        ({"op": "set", "data": "?"}, "unreadable"),
        ({"op": "set", "fidelity": "oversize"}, "changed"),
        ({"op": "set"}, "cancelled"),
    ],
)
def test_how_a_move_goes(event: dict[str, Any], word: str) -> None:
    log = Script().say("set", *T, data=MOVING, czxid=3)
    log.say("set", *T, fidelity="superseded")
    log.say(event.pop("op"), *T, **event)
    assert in_order(log, "ended_by", "seen_seq") == [(word, 2)]


def test_a_request_that_could_not_be_read() -> None:
    log = Script().say("read", *R, data="{broken", czxid=1, version=2)
    log.say("read", *R, data="{broken", czxid=1, version=2)
    log.say("set", *R, data=ask(o0=[1])).say("create", *E, data=ask(o0=None)).say("delete", *E)
    log.say("set", *R, fidelity="oversize").say("delete", *R)
    columns = ("operation", "topic", *BRIEF, "is_known", "decode_error", "seen_seq")
    assert in_order(log, *columns) == [
        ("reassignment", None, None, None, 1, 3, "changed", False, "malformed", 2),
        ("reassignment", "o", 0, [1], 3, 6, "changed", True, None, 3),
        ("preferred_election", "o", 0, None, 4, 5, "finished", True, None, 4),
        ("reassignment", None, None, None, 6, 7, "finished", False, None, 6),
    ]


def test_a_request_created_again_is_another_one() -> None:
    log = Script().say("create", *E, data=ask(o0=None), czxid=1)
    log.say("create", *E, data=ask(o0=None, o1=None), czxid=2)
    log.say("read", *E, data=ask(o1=None, o0=None), czxid=3)
    assert in_order(log, "partition", "czxid", "ended_by") == [
        (0, 1, "recreated"),
        (0, 2, "recreated"),
        (1, 2, "recreated"),
        (0, 3, None),
        (1, 3, None),
    ]


def test_a_topic_that_shall_be_deleted() -> None:
    log = Script().say("read", *D, data="whatever").say("read", *D, czxid=5)
    log.say("set", *D, fidelity="superseded").say("create", *D, czxid=6).say("delete", *D)
    columns = (
        "topic",
        "partition",
        "czxid",
        "valid_from_seq",
        "valid_to_seq",
        "ended_by",
        "seen_seq",
    )
    assert in_order(log, *columns) == [
        ("o", None, 5, 1, 4, "recreated", 3),
        ("o", None, 6, 4, 5, "refused", 4),
    ]


def ask_deletion() -> Script:
    return Script().say("create", *T, data=DONE, czxid=3).say("create", *D, czxid=5)


@pytest.mark.parametrize(
    ("log", "word"),
    [
        (ask_deletion().say("delete", *T).say("delete", *D), "finished"),
        # delete.topic.enable=false: only the request goes.
        (ask_deletion().say("delete", *D), "refused"),
        (ask_deletion().say("set", *D, czxid=5, version=1).say("delete", *D), "refused"),
        (ask_deletion().say("delete", "topic", "/brokers/topics/p").say("delete", *D), "refused"),
        # Where the topic may have gone unseen, nothing is concluded.
        (Script().say("read", *D, czxid=5).say("delete", *D), "finished"),
        (ask_deletion().say("delete", *D, origin="resync").say("delete", *T), "finished"),
        (ask_deletion().gap("g").say("delete", *D).say("delete", *T).in_sync("f"), "finished"),
        (ask_deletion().gap("g").in_sync("f").say("delete", *D), "refused"),
        (ask_deletion().hole(2).say("delete", *D), "finished"),
        (
            ask_deletion().frame("f").say("read", *D, czxid=5).in_sync("f", base="none")
            .say("delete", *D),
            "finished",
        ),
    ],
)  # fmt: skip
def test_how_a_deletion_ended(log: Script, word: str) -> None:
    assert in_order(log, "operation", "ended_by") == [("topic_deletion", word)]


def test_a_frame_ends_what_it_did_not_show() -> None:
    log = Script().say("create", *R, data=ask(o0=[4, 5], p1=[4, 5])).say("set", *T, data=MOVING)
    log.say("create", *E, data=ask(o0=None)).say("create", *D)
    log.frame("f").say("read", *T, data=MOVING).in_sync("f", base="none")
    columns = ("operation", "topic", "valid_to_seq", "ended_by", "seen_seq", "is_inferred")
    assert in_order(log, *columns) == [
        ("reassignment", "o", None, None, 6, False),
        ("reassignment", "p", 7, "resync", 1, False),
        ("preferred_election", "o", 7, "resync", 3, False),
        ("topic_deletion", "o", 7, "resync", 4, False),
    ]
