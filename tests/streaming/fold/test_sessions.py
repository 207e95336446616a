from __future__ import annotations

from streaming.fold.sessions import Ephemeral, SessionRuns
from streaming.log.continuity import Entry
from zklake.events.envelope import Event, Stat

MEMBER, OWNER, UNREAD = "/consumers/g/ids/g_a", "/consumers/g/owners/t/0", "/consumers/g/owners/t/1"
KINDS = {MEMBER: "consumer", OWNER: "owner", UNREAD: "owner"}
# Who is alive, and in which session; of the third nobody could read it.
SESSIONS = {MEMBER: 7, OWNER: 7, UNREAD: None}


def create(seq: int, path: str, at: int = 0) -> Event:
    stat = Stat(czxid=seq, version=0, ephemeral_owner=9)
    return Event("c", "l", seq, "create", at, path=path, kind=KINDS[path], stat=stat)


def delete(seq: int, path: str, at: int = 0, origin: str = "watch") -> Event:
    return Event("c", "l", seq, "delete", at, path=path, kind=KINDS[path], origin=origin)  # type: ignore[arg-type]


def beat(seq: int, at: int = 0) -> Event:
    return Event("c", "l", seq, "heartbeat", at)


def sample(seq: int, at: int = 0) -> Event:
    return Event("c", "l", seq, "group_commit", at)


class Log:
    """Takes events through; `released` are seqs, `closing` those that end a session."""

    def __init__(self) -> None:
        self.alive = dict(SESSIONS)
        self.released: list[int] = []
        self.closing: list[int] = []
        self.runs = SessionRuns(self._find, self._count)

    def _find(self, entry: Entry) -> Ephemeral:
        path = entry.event.path or ""
        return Ephemeral((path,), self.alive.get(path), True)

    def _count(self, session: int) -> int:
        return [*self.alive.values()].count(session)

    def take(self, *events: Event, final: bool = False) -> tuple[list[int], int | None]:
        """(deletes that end a session, from where on events are held back)."""
        for event in events:
            for entry, closes_session in self.runs.take(Entry(event, 0)):
                self._note(entry.event, closes_session)
        for entry, closes_session in self.runs.release() if final else ():
            self._note(entry.event, closes_session)
        return self.closing, self.runs.held_seq

    def _note(self, event: Event, closes_session: bool) -> None:
        self.released.append(event.seq)
        self.closing += [event.seq] if closes_session else []
        if event.op == "delete":
            self.alive.pop(event.path or "", None)


def take(*events: Event, final: bool = False) -> tuple[list[int], int | None]:
    log = Log()
    told = log.take(*events, final=final)
    held = [] if told[1] is None else [e.seq for e in events if e.seq >= told[1]]
    assert [*log.released, *held] == [event.seq for event in events], "the order is kept"
    return told


def test_all_ephemerals_in_one_run_end_a_session() -> None:
    assert take(delete(3, OWNER), delete(4, MEMBER)) == ([3, 4], None)


def test_a_heartbeat_inside_the_run_does_not_break_it() -> None:
    assert take(delete(3, OWNER), beat(4), delete(5, MEMBER)) == ([3, 5], None)


def test_a_sample_inside_the_run_does_not_break_it() -> None:
    assert take(delete(3, OWNER), sample(4), delete(5, MEMBER)) == ([3, 5], None)
    assert take(delete(3, OWNER), sample(4, at=500), delete(5, MEMBER)) == ([5], None)
    assert take(delete(3, OWNER), sample(4)) == ([], 3), "it waits with the run"


def test_another_event_between_breaks_the_run() -> None:
    assert take(delete(3, OWNER), create(4, OWNER), delete(5, MEMBER)) == ([5], None)


def test_a_late_delete_begins_another_run() -> None:
    assert take(delete(3, OWNER), delete(4, MEMBER, at=500)) == ([4], None)


def test_what_nobody_could_read_shares_the_end_of_the_run_it_stands_in() -> None:
    assert take(delete(3, OWNER), delete(4, UNREAD), delete(5, MEMBER)) == ([3, 4, 5], None)
    assert take(delete(3, UNREAD), delete(4, OWNER), delete(5, MEMBER)) == ([4, 5], None)


def test_inferred_deletes_are_none() -> None:
    told = take(delete(3, OWNER, origin="resync"), delete(4, MEMBER, origin="resync"))
    assert told == ([], None)


def test_an_undecided_run_waits_until_something_decides_it() -> None:
    log = Log()
    assert log.take(delete(3, OWNER)) == ([], 3)
    assert log.released == []
    assert log.take(delete(4, MEMBER)) == ([3, 4], None)


def test_a_later_event_a_late_heartbeat_or_the_end_decide() -> None:
    assert take(delete(3, OWNER), create(4, UNREAD)) == ([], None)
    assert take(delete(3, OWNER), beat(4, at=500)) == ([], None)
    assert take(delete(3, OWNER), beat(4, at=499)) == ([], 3)
    assert take(delete(3, OWNER), final=True) == ([], None)
