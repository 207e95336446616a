"""What transactions become: numbered, sealed, inside the chroot, from and up to some time."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.watcher.txnlog.telling import Teller, list_changes
from tests.watcher.txnlog.writing import (
    ACL,
    CLOSE_SESSION,
    CREATE,
    CREATE_CONTAINER,
    CREATE_SESSION,
    CREATE_TTL,
    DELETE,
    ERROR,
    MULTI,
    SESSION,
    SET,
    SET_ACL,
    START_MS,
    closed,
    create,
    multi,
    record,
    set_data,
    sets,
    text,
    write_log,
    write_snapshot,
    znode,
)
from watcher.txnlog import history as history_module
from watcher.txnlog.files import find_files
from watcher.txnlog.finding import TxnLogError
from watcher.txnlog.numbering import Bounds
from watcher.txnlog.walk import find_since
from zklake.events.envelope import SEQ_PER_SECOND, Event

_DIGEST = struct.pack(">iq", 2, 0x1234_5678_9ABC)


def describe(events: list[Event]) -> list[tuple[object, ...]]:
    return [(e.op, e.path, e.zxid, e.stat.version if e.stat else None) for e in events]


def test_every_type_of_transaction(tmp_path: Path) -> None:
    container = text("/c") + text(b"") + ACL + struct.pack(">i", 2)
    ttl = text("/t") + text(b"") + ACL + struct.pack(">iq", 3, 60_000)
    write_log(
        tmp_path,
        1,
        [
            record(1, CREATE_SESSION, struct.pack(">i", 6000)),
            record(2, CREATE, create("/a", None), session=7),
            record(3, CREATE_CONTAINER, container + _DIGEST),
            record(4, CREATE_TTL, ttl + _DIGEST),
            record(5, SET, set_data("/a", b"1", 1) + _DIGEST),
            record(6, SET_ACL, text("/a") + ACL + struct.pack(">i", 1)),
            record(7, ERROR, struct.pack(">i", -101)),
            record(
                8,
                MULTI,
                multi((CREATE, create("/e", None, 4, True)), (SET, set_data("/e", b"x", 1))),
            ),
            record(9, MULTI, multi((ERROR, struct.pack(">i", 0)), (ERROR, struct.pack(">i", -2)))),
            record(10, DELETE, text("/t")),
            record(11, CREATE, create("/f", b"", 5, True)),
            record(12, CLOSE_SESSION, closed("/f", "/e") + _DIGEST),
        ],
    )
    events = list_changes(Teller([tmp_path]).tell())
    assert describe(events) == [
        ("create", "/a", 2, 0),
        ("create", "/c", 3, 0),
        ("create", "/t", 4, 0),
        ("set", "/a", 5, 1),
        ("create", "/e", 8, 0),
        ("set", "/e", 8, 1),
        ("delete", "/t", 10, 0),
        ("create", "/f", 11, 0),
        ("delete", "/f", 12, 0),
        ("delete", "/e", 12, 1),
    ]
    by_path = {event.path: event for event in events if event.op != "delete"}
    stats = {path: event.stat for path, event in by_path.items()}
    assert [stats[path].ephemeral_owner for path in ("/c", "/t", "/e")] == [0, 0, SESSION]  # type: ignore[union-attr]
    assert by_path["/a"].observed_at_ms == START_MS + 5000
    assert [(e.zxid, e.session) for e in events[:2]] == [(2, 7), (3, SESSION)]
    assert stats["/a"].mtime == START_MS + 5000  # type: ignore[union-attr]
    assert stats["/a"].ctime == START_MS + 2000  # type: ignore[union-attr]


@pytest.mark.parametrize("body", [b"", _DIGEST, struct.pack(">i", 0), closed("/e") + _DIGEST])
def test_the_end_of_a_session_deletes_what_it_owned_whatever_the_log_lists(
    tmp_path: Path, body: bytes
) -> None:
    owned = [record(n, CREATE, create(path, b"", n, True)) for n, path in ((1, "/e"), (2, "/f"))]
    write_log(tmp_path, 1, [*owned, record(3, CLOSE_SESSION, body)])
    events = list_changes(Teller([tmp_path]).tell())
    assert {(e.path, e.zxid) for e in events if e.op == "delete"} == {("/e", 3), ("/f", 3)}


def test_only_what_lies_inside_the_chroot(tmp_path: Path) -> None:
    paths = ["/kafka", "/kafka/brokers", "/kafka2", "/kafka/brokers/ids", "/other"]
    write_log(tmp_path, 1, [record(n, CREATE, create(p)) for n, p in enumerate(paths, start=1)])
    events = Teller([tmp_path], chroot="/kafka").tell()
    assert [(e.path, e.zxid) for e in list_changes(events)] == [
        ("/", 1),
        ("/brokers", 2),
        ("/brokers/ids", 4),
    ]


def test_secrets_are_redacted_before_they_leave(tmp_path: Path) -> None:
    secrets = {
        "/config/users/alice": b'{"version":1,"config":{"SCRAM-SHA-256":"salt=S3cr3tSalt"}}',
        "/myapp/db": b"password=S3cr3t",
        "/delegation_token/tokens/S3cr3tId": b"S3cr3t",
    }
    write_log(
        tmp_path,
        1,
        [record(n, CREATE, create(p, d)) for n, (p, d) in enumerate(secrets.items(), start=1)],
    )
    write_snapshot(tmp_path, 9, *(znode(path, data) for path, data in secrets.items()))
    write_log(tmp_path, 10, [record(10, DELETE, text("/myapp/db"))])
    for start in (-1, 9):
        events = Teller([tmp_path], start=start).tell()
        told = [event for event in events if event.data_hash]
        assert len(told) >= len(secrets)
        assert "S3cr3t" not in repr(events)


def test_events_stand_before_the_birth_of_a_log_that_follows(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [record(1, CREATE, create("/a")), *sets("/a", range(2, 5000))])
    birth = (START_MS // 1000 + 3000) * SEQ_PER_SECOND
    bounds = Bounds(last_zxid=4000, before_seq=birth, before_ms=START_MS + 3_000_000)
    teller = Teller([tmp_path], bounds)
    events = teller.tell()
    assert list_changes(events)[-1].zxid == 4000
    assert events[-1].seq < birth
    assert events[-1].observed_at_ms == START_MS + 3_000_000
    assert teller.history.counts.is_met
    # The live log says by itself where it begins.
    assert events[-1].op == "set"


def test_where_the_files_end_before_the_log_begins_a_gap_says_so(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [record(1, CREATE, create("/a")), *sets("/a", range(2, 10))])
    birth = (START_MS // 1000 + 3000) * SEQ_PER_SECOND
    teller = Teller([tmp_path], Bounds(last_zxid=4000, before_seq=birth))
    last = teller.tell()[-1]
    assert last.gap is not None
    assert (last.gap.reason, last.gap.from_zxid) == ("txnlog_end", 9)
    assert not teller.history.counts.is_met


def test_a_clock_far_ahead_is_an_error_and_no_overlap(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [record(1, CREATE, create("/a"), at_ms=1 << 60)])
    with pytest.raises(TxnLogError, match="leader's clock"):
        Teller([tmp_path]).tell()


def test_a_clock_that_goes_back_moves_nothing_back(tmp_path: Path) -> None:
    times = [START_MS, START_MS + 90_000, START_MS + 20_000, START_MS + 95_000]
    records = [
        record(n, CREATE, create(f"/{n}"), at_ms=at_ms) for n, at_ms in enumerate(times, start=1)
    ]
    write_log(tmp_path, 1, records)
    events = list_changes(Teller([tmp_path]).tell())
    assert [e.observed_at_ms - START_MS for e in events] == [0, 90_000, 90_000, 95_000]
    assert [e.stat.ctime for e in events if e.stat] == times
    assert [e.seq for e in events] == sorted(e.seq for e in events)


def test_without_a_snapshot_what_stood_before_is_not_known(tmp_path: Path) -> None:
    records = [*sets("/a", [50, 51], first_version=7), record(52, DELETE, text("/b"))]
    write_log(tmp_path, 50, records)
    events = Teller([tmp_path]).tell()
    assert [event.op for event in events] == ["gap", "set", "set", "delete", "gap"]
    written, gone = events[1], events[3]
    assert written.stat is not None
    assert (written.stat.version, written.stat.mzxid, written.stat.czxid) == (7, 50, None)
    assert gone.stat is None


def test_what_changed_while_the_snapshot_was_written_is_told_in_its_turn(tmp_path: Path) -> None:
    """At 10 /a had version 2, /late was not there yet, and /gone still was."""
    write_snapshot(
        tmp_path,
        10,
        znode("/a", b"new", (3, 12), version=4),
        znode("/late", b"", (11, 11)),
        znode("/b", b"b", (4, 4)),
    )
    write_log(
        tmp_path,
        11,
        [
            record(11, CREATE, create("/late", b"")),
            record(12, SET, set_data("/a", b"new", 4)),
            record(13, DELETE, text("/gone")),
        ],
    )
    events = Teller([tmp_path]).tell()
    reads = {e.path: e for e in events if e.op == "read"}
    assert set(reads) == {"/", "/a", "/b"}
    assert (reads["/a"].fidelity, reads["/a"].data) == ("superseded", None)
    assert describe(list_changes(events)) == [
        ("create", "/late", 11, 0),
        ("set", "/a", 12, 4),
        ("delete", "/gone", 13, None),
    ]


def test_since_begins_with_a_snapshot_and_until_ends(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [record(1, CREATE, create("/a")), *sets("/a", range(2, 20))])
    write_log(tmp_path, 20, sets("/a", range(20, 40), first_version=19))
    for zxid in (19, 24):
        write_snapshot(tmp_path, zxid, znode("/a", b"%d" % zxid, (1, zxid), version=zxid - 1))
    logs = find_files([tmp_path]).logs
    found = [find_since(logs, START_MS + at_ms) for at_ms in (0, 18_500, 19_000, 25_500, 39_000)]
    assert found == [1, 19, 19, 26, 39]
    assert find_since(logs, START_MS + 39_001) is None
    events = Teller([tmp_path], Bounds(until_ms=START_MS + 30_000), start=25).tell()
    assert [e.zxid for e in list_changes(events)] == list(range(20, 31))


def test_what_went_while_a_snapshot_was_written_is_told_when_taken_up_behind_it(
    tmp_path: Path,
) -> None:
    born = record(2, CREATE, create("/e", b"", ephemeral=True))
    before_36 = record(22, CLOSE_SESSION, b"")
    write_log(tmp_path, 1, [record(1, CREATE, create("/a")), born, *sets("/a", range(3, 22))])
    write_log(tmp_path, 22, [before_36, *sets("/a", range(23, 26), first_version=20)])
    for zxid in (10, 19):  # the second was not done when the session ended
        nodes = [znode("/e", b"", (2, 2), owner=SESSION)] if zxid == 10 else []
        write_snapshot(tmp_path, zxid, znode("/a", b"", (1, zxid), version=zxid - 2), *nodes)
    for after in (19, 20, 21):
        bounds = Bounds(1, after, SEQ_PER_SECOND, START_MS, True)
        events = Teller([tmp_path], bounds, start=after).tell()
        assert [e.zxid for e in list_changes(events)] == list(range(after + 1, 26))
        gone = next(e for e in events if e.op == "delete")
        assert (gone.path, gone.zxid, gone.stat and gone.stat.czxid) == ("/e", 22, 2)


def test_batches_are_cut_between_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "_BATCH_EVENTS", 4)
    nodes = [znode(f"/{n}", b"", (n, n)) for n in range(1, 10)]
    write_snapshot(tmp_path, 9, *nodes)
    parts = [(CREATE, create(f"/m{n}", b"", n)) for n in range(10)]
    write_log(tmp_path, 10, [record(10, MULTI, multi(*parts)), *sets("/1", [11, 12, 13, 14])])
    batches = Teller([tmp_path]).tell_batches()
    whole = [event for batch in batches for event in batch.events]
    monkeypatch.undo()
    assert whole == Teller([tmp_path]).tell()
    # A frame that has not ended moves nothing on; a multi stays together.
    assert [batch.zxid for batch in batches] == [None, None, None, 10, 14]
    assert [e.zxid for e in batches[3].events[-10:]] == [10] * 10
