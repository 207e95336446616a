from __future__ import annotations

from streaming.frames import Closure
from streaming.sessions import Sessions
from zklake.events.envelope import Event, Stat

MEMBER, OWNER = "/consumers/g/ids/g_a", "/consumers/g/owners/t/0"
KINDS = {MEMBER: "consumer", OWNER: "owner"}


def create(seq: int, path: str, session: int = 7, at: int = 0) -> Event:
    stat = Stat(czxid=seq, version=0, ephemeral_owner=session)
    return Event("c", "l", seq, "create", at, path=path, kind=KINDS[path], stat=stat)


def delete(seq: int, path: str, at: int = 0, origin: str = "watch") -> Event:
    return Event("c", "l", seq, "delete", at, path=path, kind=KINDS[path], origin=origin)  # type: ignore[arg-type]


def beat(seq: int, at: int = 0) -> Event:
    return Event("c", "l", seq, "heartbeat", at)


def sample(seq: int, at: int = 0) -> Event:
    return Event("c", "l", seq, "group_commit", at)


BORN = [create(1, MEMBER), create(2, OWNER)]
Told = tuple[list[tuple[int, int]], int | None]


def follow(*events: Event, last: int | None = None, final: bool = False) -> Told:
    return Sessions().follow([*BORN, *events], {}, last or events[-1].seq, final=final)


def test_all_ephemerals_in_one_run_end_a_session() -> None:
    assert follow(delete(3, OWNER), delete(4, MEMBER)) == ([(3, 4)], None)


def test_a_heartbeat_inside_the_run_does_not_break_it() -> None:
    assert follow(delete(3, OWNER), beat(4), delete(5, MEMBER)) == ([(3, 5)], None)


def test_a_sample_inside_the_run_does_not_break_it() -> None:
    assert follow(delete(3, OWNER), sample(4), delete(5, MEMBER)) == ([(3, 5)], None)
    assert follow(delete(3, OWNER), sample(4, at=500), delete(5, MEMBER)) == ([(5, 5)], None)
    assert follow(delete(3, OWNER), sample(4)) == ([], 3), "it waits with the run"


def test_the_last_ephemeral_alone_is_a_run_of_its_own() -> None:
    between = create(4, OWNER, session=9)
    assert follow(delete(3, OWNER), between, delete(5, MEMBER)) == ([(5, 5)], None)


def test_another_event_between_breaks_the_run() -> None:
    assert follow(delete(3, OWNER), delete(5, MEMBER)) == ([(5, 5)], None)


def test_a_late_delete_begins_another_run() -> None:
    assert follow(delete(3, OWNER), delete(4, MEMBER, at=500)) == ([(4, 4)], None)


def test_inferred_deletes_are_none() -> None:
    assert follow(delete(3, OWNER, origin="resync"), delete(4, MEMBER, origin="resync")) == (
        [],
        None,
    )


def test_an_undecided_run_waits_until_something_decides_it() -> None:
    sessions = Sessions()
    assert sessions.follow([*BORN, delete(3, OWNER)], {}, 3, final=False) == ([], 3)
    assert set(sessions.alive) == {MEMBER, OWNER}, "the run was taken back"
    assert sessions.follow([delete(3, OWNER), delete(4, MEMBER)], {}, 4, final=False) == (
        [(3, 4)],
        None,
    )


def test_a_later_event_a_late_heartbeat_or_the_end_decide() -> None:
    assert follow(delete(3, OWNER), last=4) == ([], None)
    assert follow(delete(3, OWNER), beat(4, at=500)) == ([], None)
    assert follow(delete(3, OWNER), beat(4, at=499)) == ([], 3)
    assert follow(delete(3, OWNER), final=True) == ([], None)


def test_a_frame_that_does_not_meet_an_ephemeral_takes_it() -> None:
    sync = Event("c", "l", 5, "in_sync", 0)
    closure = Closure("c", 3, 5, 0)
    seen = create(4, OWNER)
    sessions = Sessions()
    told = sessions.follow([*BORN, seen, sync, delete(6, OWNER)], {5: closure}, 6, final=False)
    assert told == ([(6, 6)], None), "the member is gone: the owner was the last of its session"


def test_missing_heartbeats_are_no_breaks_in_a_rebuild() -> None:
    events = [*BORN, delete(3, OWNER), delete(5, MEMBER)]
    assert Sessions().follow(events, {}, 5, final=True, breaks=()) == ([(3, 5)], None)
    assert Sessions().follow(events, {}, 5, final=True, breaks={5}) == ([(5, 5)], None)
