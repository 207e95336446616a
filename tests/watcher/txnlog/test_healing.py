"""Values for events that have none: which change each is of, and what of it may be said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.watcher.txnlog.telling import REDACTOR
from tests.watcher.txnlog.writing import (
    CREATE,
    DELETE,
    MULTI,
    SESSION,
    SET,
    START_MS,
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
from watcher.sealing import Sealing
from watcher.txnlog import healing as healing_module
from watcher.txnlog.files import find_files
from watcher.txnlog.finding import FileFinding
from watcher.txnlog.healing import Healer, find_least_zxid
from watcher.txnlog.walk import Walk
from zklake.events.envelope import Event, Op, Origin, Stat

SEALING = Sealing(REDACTOR, 900_000)
TOPIC = "/brokers/topics/t"


def lose(
    seq: int,
    op: Op,
    path: str,
    stat: Stat,
    zxid: int | None = None,
    origin: Origin = "watch",
) -> Event:
    """An event whose value nobody could read."""
    known = {"path": SEALING.path(path), "kind": SEALING.kind(path), "zxid": zxid, "stat": stat}
    return Event("c", "live", seq, op, 1, **known, fidelity="superseded", origin=origin)  # type: ignore[arg-type]


def heal(
    files: Path, unread: Sequence[Event], start: int = -1, chroot: str = ""
) -> tuple[dict[int, Event], list[FileFinding]]:
    """By seq what came of them, and what was found in the files."""
    findings: list[FileFinding] = []
    walk = Walk(find_files([files]), chroot, findings.append, start)
    batches = Healer(walk, SEALING, unread, findings.append).heal()
    return {event.seq: event for batch in batches for event in batch}, findings


def write_lives(directory: Path) -> Path:
    """A topic is born, written twice, deleted; and born and written again."""
    write_log(
        directory,
        1,
        [
            record(1, CREATE, create("/brokers", b"")),
            record(2, CREATE, create("/brokers/topics", b"")),
            record(3, CREATE, create(TOPIC, b"first")),
            *sets(TOPIC, (4, 5)),
            record(6, DELETE, text(TOPIC)),
            record(7, CREATE, create(TOPIC, b"second", 3), session=9),
            *sets(TOPIC, (8,)),
        ],
    )
    return directory


def test_a_write_is_found_by_its_transaction(tmp_path: Path) -> None:
    lost = lose(10, "set", TOPIC, Stat(czxid=3, mzxid=4, version=1, aversion=0), zxid=4)
    healed, findings = heal(write_lives(tmp_path), [lost])
    (event,) = healed.values()
    assert findings == []
    assert (event.seq, event.op, event.zxid, event.data) == (10, "set", 4, "4")
    assert (event.fidelity, event.origin, event.session) == ("exact", "txnlog", SESSION)
    assert event.data_hash == REDACTOR.hash_data(b"4")
    assert event.stat == Stat(3, 4, 3, START_MS + 3000, START_MS + 4000, 1, 0, 0, 0, 1, 0)
    assert (event.log_id, event.observed_at_ms) == (lost.log_id, lost.observed_at_ms)


def test_before_3_9_it_is_found_by_life_and_version(tmp_path: Path) -> None:
    lost = [
        lose(10, "create", TOPIC, Stat(czxid=3, version=0)),
        lose(11, "set", TOPIC, Stat(czxid=3, version=2)),
        lose(12, "create", TOPIC, Stat(czxid=7, mzxid=7, version=0)),
    ]
    healed, _ = heal(write_lives(tmp_path), lost)
    assert {seq: (e.data, e.zxid) for seq, e in healed.items()} == {
        10: ("first", 3),
        11: ("5", 5),
        12: ("second", 7),
    }


def test_a_version_found_after_a_gap_is_not_its_birth(tmp_path: Path) -> None:
    """A znode that was created in a gap, and written before it was met: its second version."""
    born = lose(10, "create", TOPIC, Stat(czxid=3, version=1), zxid=3, origin="resync")
    named = lose(11, "read", TOPIC, Stat(czxid=3, version=2), origin="scan")
    healed, _ = heal(write_lives(tmp_path), [born, named])
    assert (healed[10].data, healed[10].zxid, healed[10].origin) == ("4", 3, "resync")
    assert healed[10].stat is not None
    assert (healed[10].stat.version, healed[10].stat.mzxid) == (1, 4)
    assert (healed[11].data, healed[11].zxid, healed[11].origin) == ("5", 5, "scan")


@pytest.mark.parametrize(
    "lost",
    [
        lose(10, "set", TOPIC, Stat(czxid=3, version=9), zxid=4),
        lose(10, "set", TOPIC, Stat(czxid=2, version=1), zxid=4),
        lose(10, "create", TOPIC, Stat(czxid=4, version=0), zxid=4),
        lose(10, "set", TOPIC, Stat(czxid=3, version=1), zxid=99),
        lose(10, "set", "/brokers/topics/u", Stat(czxid=3, version=1), zxid=4),
        lose(10, "create", TOPIC, Stat(version=0)),
    ],
    ids=["version", "life", "op", "transaction", "znode", "nothing"],
)
def test_what_contradicts_is_not_it(lost: Event, tmp_path: Path) -> None:
    assert heal(write_lives(tmp_path), [lost])[0] == {}


def test_parts_of_one_transaction_are_told_apart(tmp_path: Path) -> None:
    sets_of_it = [(SET, set_data("/a", value, n)) for n, value in enumerate((b"x", b"y"), start=1)]
    write_log(tmp_path, 1, [record(1, MULTI, multi((CREATE, create("/a", None)), *sets_of_it))])
    lost = [
        lose(10, "create", "/a", Stat(czxid=1, version=0), zxid=1),
        lose(11, "set", "/a", Stat(czxid=1, version=1), zxid=1),
    ]
    healed, _ = heal(tmp_path, lost)
    assert {seq: event.data_hash for seq, event in healed.items()} == {
        10: REDACTOR.hash_data(None),
        11: REDACTOR.hash_data(b"x"),
    }


def test_what_the_watcher_withholds_is_withheld(tmp_path: Path) -> None:
    user, token = "/config/users/ann", "/delegation_token/tokens/abc"
    secret = b'{"version":1,"config":{"SCRAM-SHA-256":"stored_key=c2VjcmV0"}}'
    parents = ("/config", "/config/users", "/delegation_token", "/delegation_token/tokens")
    records = [record(n, CREATE, create(path, b"")) for n, path in enumerate(parents, start=1)]
    records += [record(5, CREATE, create(user, secret)), record(6, CREATE, create(token, secret))]
    write_log(tmp_path, 1, records)
    lost = [
        lose(10, "create", user, Stat(czxid=5, version=0), zxid=5),
        lose(11, "create", token, Stat(czxid=6, version=0)),
    ]
    assert lost[1].path != token
    healed, _ = heal(tmp_path, lost)
    assert [event.fidelity for event in healed.values()] == ["redacted", "redacted"]
    assert {event.data_hash for event in healed.values()} == {REDACTOR.hash_data(secret)}
    assert "c2VjcmV0" not in repr(healed)
    assert "abc" not in repr(healed)


def test_inside_a_chroot(tmp_path: Path) -> None:
    parents = ("/kafka", "/kafka/brokers", "/kafka/brokers/topics")
    born = [record(n, CREATE, create(path, b"")) for n, path in enumerate(parents, start=1)]
    born.append(record(4, CREATE, create(TOPIC, b"outside")))
    write_log(tmp_path, 1, [*born, record(5, CREATE, create(f"/kafka{TOPIC}", b"inside"))])
    lost = [lose(10, "create", TOPIC, Stat(czxid=czxid, version=0)) for czxid in (4, 5)]
    healed, _ = heal(tmp_path, lost, chroot="/kafka")
    assert [(event.zxid, event.data) for event in healed.values()] == [(5, "inside")]


def test_it_begins_with_a_snapshot_and_ends_with_the_last_of_them(tmp_path: Path) -> None:
    """What stood before is known by a snapshot that was complete by then."""
    for zxid in (2, 3):
        write_snapshot(tmp_path, zxid, znode(TOPIC, b"old", (1, 2), 1))
    write_log(tmp_path, 1, [record(1, CREATE, create(TOPIC, b""))])
    write_log(tmp_path, 3, [*sets(TOPIC, range(3, 9), 2)])
    write_log(tmp_path, 11, [*sets(TOPIC, (11, 12), 10)])
    lost = [lose(10, "set", TOPIC, Stat(czxid=1, version=version)) for version in (3, 5)]
    assert [find_least_zxid(event) for event in lost] == [1, 1]
    healed, findings = heal(tmp_path, [lose(10, "set", TOPIC, Stat(czxid=1, version=3))], start=3)
    assert [(event.zxid, event.data) for event in healed.values()] == [(4, "4")]
    assert findings == []
    beyond = lose(11, "set", TOPIC, Stat(czxid=1, version=99))
    healed, findings = heal(tmp_path, [beyond], start=3)
    assert healed == {}
    assert ["0x8 and 0xb" in finding.says for finding in findings] == [True]


def test_a_birth_that_no_file_has_is_found_by_its_transaction_alone(tmp_path: Path) -> None:
    write_log(tmp_path, 8, [*sets("/a", (8, 9), 5)])
    by_zxid = lose(10, "set", "/a", Stat(czxid=1, version=5, ephemeral_owner=0), zxid=8)
    healed, _ = heal(tmp_path, [by_zxid, lose(11, "set", "/a", Stat(czxid=1, version=6))])
    assert [*healed] == [10]
    stat = healed[10].stat
    assert stat is not None
    assert (stat.czxid, stat.mzxid, stat.version, stat.mtime) == (1, 8, 5, START_MS + 8000)


def test_memory_is_bounded_by_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healing_module, "_BATCH_EVENTS", 3)
    monkeypatch.setattr(healing_module, "_STEPS_SHOWN", 2)
    write_log(tmp_path, 1, [record(1, CREATE, create("/a", b"")), *sets("/a", range(2, 12))])
    lost = [lose(n, "set", "/a", Stat(czxid=1, version=n), zxid=n + 1) for n in range(1, 8)]
    walk = Walk(find_files([tmp_path]), "", print)
    sizes = [len(batch) for batch in Healer(walk, SEALING, lost, print).heal()]
    assert [size for size in sizes if size] == [3, 3, 1]
    assert max(sizes) == 3
