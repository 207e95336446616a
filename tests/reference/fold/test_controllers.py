"""The controller table: reigns, their epochs, and the times without one."""

from __future__ import annotations

from tests.reference.fold.script import Script

CONTROLLER = ("controller", "/controller")
EPOCH = ("controller_epoch", "/controller_epoch")
WHO = ("valid_from_seq", "valid_to_seq", "controller_id", "controller_epoch", "ended_by")


def reign(broker_id: int) -> str:
    return f'{{"version":1,"brokerid":{broker_id},"timestamp":"17"}}'


def test_a_reign_and_the_time_after_it() -> None:
    log = Script().say("create", *EPOCH, data="1", mzxid=3)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5, ctime=1500, ephemeral_owner=8, zxid=5)
    log.say("delete", *CONTROLLER, zxid=9)
    reigning, nobody = log.rows("controller")
    assert reigning == {
        "cluster": "c",
        "controller_id": 2,
        "controller_epoch": 1,
        "kraft_controller_epoch": -1,
        "registered_at": 17,
        "session": 8,
        "czxid": 5,
        "znode_version": 0,
        "fidelity": "exact",
        "is_known": True,
        "decode_error": None,
        "unseen_versions": 0,
        "seen_seq": 2,
        "valid_from_seq": 2,
        "valid_from_zxid": 5,
        "valid_from_at": 1500,
        "valid_to_seq": 3,
        "valid_to_zxid": 9,
        "valid_to_at": 3000,
        "valid_to_at_min": None,
        "is_clamped": False,
        "is_open": False,
        "ended_by": "session_ended",
        "closed_on": "1970-01-01",
    }
    empty = dict.fromkeys(
        [
            "controller_id",
            "kraft_controller_epoch",
            "registered_at",
            "session",
            "czxid",
            "znode_version",
            "fidelity",
            "decode_error",
            "valid_to_seq",
            "valid_to_zxid",
            "valid_to_at",
            "ended_by",
            "closed_on",
        ]
    )
    assert nobody == reigning | empty | {
        "is_open": True,
        "seen_seq": 3,
        "valid_from_seq": 3,
        "valid_from_zxid": 9,
        "valid_from_at": 3000,
    }


def test_an_epoch_of_the_electing_transaction_seals_the_row() -> None:
    log = Script().say("set", *EPOCH, data="4", mzxid=5, zxid=5)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5).say("set", *EPOCH, data="7", mzxid=9)
    log.say("delete", *CONTROLLER).say("set", *EPOCH, data="8", mzxid=11)
    log.say("set", *EPOCH, data="9", zxid=12)
    assert log.rows("controller", *WHO) == [
        (2, 4, 2, 4, "deleted"),
        (4, None, None, 9, None),
    ]


def test_an_unsealed_row_takes_the_first_new_epoch() -> None:
    log = Script().say("read", *EPOCH, data="4", mzxid=3)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5)
    log.say("read", *EPOCH, data="4", mzxid=3)
    assert log.rows("controller", "controller_epoch") == [4]
    log.say("set", *EPOCH, fidelity="superseded", mzxid=6).say("set", *EPOCH, data="?", mzxid=7)
    log.say("set", *EPOCH, data="5", mzxid=8).say("set", *EPOCH, data="6", mzxid=9)
    assert log.rows("controller", "controller_epoch") == [5]
    log.say("set", *CONTROLLER, data=reign(3), czxid=5, version=1)
    assert log.rows("controller", *WHO) == [(2, 8, 2, 5, "changed"), (8, None, 3, 6, None)]


def test_a_deleted_epoch_is_forgotten() -> None:
    log = Script().say("create", *EPOCH, data="4", mzxid=3).say("delete", *EPOCH)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5)
    assert log.rows("controller", "controller_epoch") == [None]
    log.say("create", *EPOCH, data="1", zxid=2)
    assert log.rows("controller", "controller_epoch") == [1]


def test_touches_echoes_and_deletes_of_nothing_begin_nothing() -> None:
    log = Script().say("set", *CONTROLLER, fidelity="superseded").say("delete", *CONTROLLER)
    log.say("set", *EPOCH, fidelity="superseded").say("delete", *EPOCH)
    assert log.rows("controller") == []
    log.say("create", *CONTROLLER, data=reign(2), czxid=5)
    log.say("read", *CONTROLLER, data=reign(2), czxid=5, version=0)
    log.say("set", *CONTROLLER, fidelity="superseded").say("set", *EPOCH, data="1", mzxid=4)
    assert log.rows("controller", "valid_from_seq", "seen_seq") == [(5, 7)]


def test_how_reigns_end() -> None:
    log = Script().say("create", *CONTROLLER, data=reign(1), czxid=5)
    log.say("create", *CONTROLLER, data=reign(2), czxid=6)
    log.say("read", *CONTROLLER, data=reign(3), czxid=7, version=0)
    log.say("set", *CONTROLLER, data="?", czxid=7, version=1)
    log.say("set", *CONTROLLER, data="4", czxid=7, version=2).say("delete", *CONTROLLER)
    log.say("create", *CONTROLLER, data="?", czxid=9)
    words = ["recreated", "recreated", "unreadable", "changed", "deleted", "changed", None]
    assert log.rows("controller", "ended_by") == words
    assert log.rows("controller", "decode_error")[-1] == "malformed"


def test_a_registration_in_two_halves_is_one_reign() -> None:
    log = Script().say("create", *EPOCH, data="1", mzxid=3).say("create", *CONTROLLER, zxid=5)
    log.say("set", *CONTROLLER, data=reign(2), czxid=5, mzxid=5, version=1)
    assert log.rows("controller", *WHO) == [(3, None, 2, 1, None)]


def test_an_undecodable_epoch_is_passed_over() -> None:
    log = Script().say("create", *EPOCH, data="3", mzxid=3).say("set", *EPOCH, data="?", mzxid=4)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5)
    assert log.rows("controller", "controller_epoch") == [3]


def test_an_undecodable_epoch_opens_a_row_that_knows_nothing() -> None:
    log = Script().say("read", *EPOCH, data="?", zxid=4)
    columns = ("controller_epoch", "is_known", "czxid", "valid_from_zxid", "valid_from_at")
    assert log.rows("controller", *columns) == [(None, False, None, 4, 1000)]


def test_a_closure_ends_a_reign_and_forgets_the_epoch() -> None:
    log = Script().say("create", *EPOCH, data="1", mzxid=3)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5)
    log.gap("4", from_ms=2500).frame("4").in_sync("4", "none")
    columns = (*WHO, "valid_from_at", "valid_to_at", "valid_to_at_min", "seen_seq")
    assert log.rows("controller", *columns) == [
        (2, 5, 2, 1, "resync", 2000, 5000, 2500, 2),
        (5, None, None, None, None, 5000, None, None, 5),
    ]
    log.frame("6").in_sync("6", "none")
    assert len(log.rows("controller")) == 2


def test_a_closure_spares_what_the_frame_showed() -> None:
    log = Script().say("create", *EPOCH, data="1", mzxid=3)
    log.say("create", *CONTROLLER, data=reign(2), czxid=5).frame("3")
    log.say("read", *EPOCH, data="1", mzxid=3)
    log.say("set", *CONTROLLER, fidelity="superseded", czxid=5, version=1).in_sync("3", "none")
    log.say("delete", *CONTROLLER)
    assert log.rows("controller", *WHO) == [(2, 7, 2, 1, "deleted"), (7, None, None, 1, None)]
