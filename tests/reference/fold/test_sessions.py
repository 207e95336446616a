"""Session closes and migrations: who left, and why."""

from __future__ import annotations

import pytest

from tests.reference.fold.script import Script

BROKER = ("broker", "/brokers/ids/1")
CONTROLLER = ("controller", "/controller")
MEMBER = ("consumer", "/consumers/g/ids/m")
OWNERS = [("owner", f"/consumers/g/owners/t/{partition}") for partition in (0, 1)]
REIGN = '{"version":1,"brokerid":1}'


def join(session: int = 5) -> Script:
    """A member with two owners: events 1 to 3."""
    log = Script(step_ms=100).say(
        "create", *MEMBER, data='{"t":1}', ephemeral_owner=session, czxid=1
    )
    for owner in OWNERS:
        log.say("create", *owner, data="m-0", ephemeral_owner=session, czxid=1)
    return log


def ends(log: Script) -> list[str | None]:
    """How the owners ended, then the member."""
    members: list[str | None] = log.rows("consumer_membership", "ended_by")
    return [*log.rows("ownership_history", "ended_by"), *members]


def test_all_ephemerals_of_a_session_leave_together() -> None:
    log = join().say("delete", *OWNERS[1]).say("delete", *MEMBER).say("delete", *OWNERS[0])
    assert ends(log) == ["session_ended"] * 3


def test_an_ephemeral_that_nobody_could_read_breaks_no_run() -> None:
    unread = ("owner", "/consumers/g/owners/t/2")
    log = join().say("create", *unread, fidelity="superseded")
    log.say("delete", *MEMBER).say("delete", *OWNERS[0])
    log.say("delete", *unread).say("delete", *OWNERS[1])
    assert ends(log) == ["session_ended"] * 4


def test_a_release_is_no_session_close() -> None:
    log = join().say("delete", *OWNERS[0]).say("delete", *OWNERS[1])
    assert ends(log) == ["deleted", "deleted", None]
    log.say("set", "offset", "/consumers/g/offsets/t/0", data="1").say("delete", *MEMBER)
    assert ends(log) == ["deleted", "deleted", "session_ended"]


@pytest.mark.parametrize(("pause_ms", "word"), [(499, "session_ended"), (500, "deleted")])
def test_a_run_is_over_after_half_a_second(pause_ms: int, word: str) -> None:
    log = join().say("delete", *OWNERS[0], at=9000).beat(9000 + pause_ms)
    at_ms = 9000 + pause_ms
    log.say("delete", *OWNERS[1], at=at_ms).say("delete", *MEMBER, at=at_ms)
    assert ends(log) == [word, "session_ended", "session_ended"]


def test_a_hole_breaks_a_run() -> None:
    log = join().say("delete", *OWNERS[0]).hole(2)
    log.say("delete", *OWNERS[1]).say("delete", *MEMBER)
    assert ends(log) == ["deleted", "session_ended", "session_ended"]


@pytest.mark.parametrize("op", ["unreadable", "create", "read"])
def test_any_other_event_breaks_a_run(op: str) -> None:
    log = join().say("delete", *OWNERS[0]).say(op, "unknown", "/x")  # type: ignore[arg-type]
    log.say("delete", *OWNERS[1]).say("delete", *MEMBER)
    assert ends(log) == ["deleted", "session_ended", "session_ended"]


def test_another_session_breaks_a_run_and_begins_its_own() -> None:
    log = join().say("create", *BROKER, data="h-1:h:1", ephemeral_owner=6)
    log.say("delete", *OWNERS[0]).say("delete", *BROKER)
    log.say("delete", *OWNERS[1]).say("delete", *MEMBER)
    assert ends(log) == ["deleted", "session_ended", "session_ended"]
    assert log.rows("broker_membership", "ended_by") == ["session_ended"]


def test_only_what_a_watch_told_can_be_a_session_close() -> None:
    log = join().say("delete", *OWNERS[0]).say("delete", *OWNERS[1])
    log.say("delete", *MEMBER, origin="resync")
    assert ends(log) == ["deleted"] * 3


def test_without_a_known_session_there_is_no_session_close() -> None:
    log = join(0).say("delete", *OWNERS[0]).say("delete", *OWNERS[1]).say("delete", *MEMBER)
    assert ends(log) == ["deleted"] * 3


def test_a_row_that_only_waits_for_its_second_half_is_alive() -> None:
    log = Script(step_ms=100).say("create", *BROKER, ephemeral_owner=5, zxid=7)
    log.say("create", *OWNERS[0], data="a", ephemeral_owner=5).say("delete", *OWNERS[0])
    log.say("set", *BROKER, data="h-1:h:1", ephemeral_owner=5, zxid=7)
    assert log.rows("ownership_history", "ended_by") == ["deleted"]


def test_a_controller_dies_with_its_broker() -> None:
    log = Script(step_ms=100).say("create", *BROKER, data="h-1:h:1", ephemeral_owner=5)
    log.say("create", *CONTROLLER, data=REIGN, ephemeral_owner=5, czxid=9)
    log.say("delete", *CONTROLLER).say("delete", *BROKER)
    assert log.rows("broker_membership", "ended_by") == ["session_ended"]
    assert log.rows("controller", "ended_by") == ["session_ended", None]


def test_a_broker_that_leaves_under_a_kraft_controller_has_migrated() -> None:
    kraft = '{"version":2,"brokerid":3000,"kraftControllerEpoch":5}'
    log = Script(step_ms=100)
    for number, session in ((1, 5), (2, 0), (3, 7)):
        path = f"/brokers/ids/{number}"
        log.say("create", "broker", path, data="h-1:h:1", ephemeral_owner=session)
    log.say("create", *MEMBER, data='{"t":1}', ephemeral_owner=7)
    log.say("create", *CONTROLLER, data=kraft, czxid=9)
    log.say("delete", *BROKER).say("delete", "broker", "/brokers/ids/2", origin="resync")
    log.say("delete", "broker", "/brokers/ids/3").say("delete", *MEMBER)
    assert log.rows("broker_membership", "ended_by") == ["migrated"] * 3
    assert log.rows("consumer_membership", "ended_by") == ["session_ended"]


def test_it_is_the_controller_at_that_seq_that_counts() -> None:
    kraft = '{"version":2,"brokerid":3000,"kraftControllerEpoch":5}'
    log = Script(step_ms=100).say("create", *BROKER, data="h-1:h:1", ephemeral_owner=5)
    log.say("delete", *BROKER).say("create", *CONTROLLER, data=kraft, czxid=9)
    log.say("create", *BROKER, data="h-1:h:1").say("delete", *CONTROLLER).say("delete", *BROKER)
    assert log.rows("broker_membership", "ended_by") == ["session_ended", "deleted"]
