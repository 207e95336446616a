"""What a gap may hide, each beside the nearest thing that it may not: a museum in pairs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.accounting import Accounts, account
from tests.reference.history import History
from tests.reference.ideal import Ideal
from tests.reference.txnlog import Op


class Scene:
    """A watcher that has read all there is, and is then told what to publish."""

    def __init__(self, history: History, *, coalescing: bool = False) -> None:
        self.history = history
        self.ideal = Ideal(history.changes, has_zxid=not coalescing)
        self.ideal.start(len(history.changes), coalescing=coalescing)

    def lose_sight(self, gap: str = "g", reason: str = "disconnected") -> None:
        zxid = self.history.changes[self.ideal.position - 1].zxid
        self.ideal.publish("gap", "/", gap={"id": gap, "reason": reason, "from_zxid": zxid})

    def come_in_sync(self) -> None:
        self.ideal.publish("in_sync", "/", frame={"id": "g", "base": "model"})

    def tell(self, index: int, **fields: Any) -> None:
        """A watch event of this change; fields replace what it would say."""
        change = self.history.changes[index]
        stat = {"czxid": change.czxid, "version": change.version}
        value = {} if change.op == "delete" else {"data": (change.data or b"").decode()}
        event = {"zxid": change.zxid, "stat": stat, **value, "origin": "watch", **fields}
        if event.get("fidelity") == "superseded":
            event.pop("data", None)
        self.ideal.publish(change.op, change.path, **event)

    def infer(self, index: int, **fields: Any) -> None:
        self.tell(index, **{"origin": "resync", "zxid": None, **fields})

    def read(self, index: int) -> None:
        change = self.history.changes[index]
        stat = {"czxid": change.czxid, "version": change.version}
        data = (change.data or b"").decode()
        self.ideal.publish("read", change.path, origin="resync", stat=stat, data=data)

    def suppose(self, path: str) -> None:
        """It must have been there: no czxid, no version, no value."""
        fields = {"origin": "resync", "fidelity": "superseded", "stat": {}}
        self.ideal.publish("create", path, **fields)

    def judge(self) -> Accounts:
        return account(self.history.changes, self.ideal.records)


def begin(*paths: str, coalescing: bool = False) -> Scene:
    history = History()
    for path in paths:
        history.create(path, b"0")
    return Scene(history, coalescing=coalescing)


@pytest.mark.parametrize(("told", "is_clean"), [((2, 4, 5), True), ((2, 5), False)])
def test_broken_connection_tells_a_path_wholly_or_not_at_all(
    told: tuple[int, ...], is_clean: bool
) -> None:
    scene = begin("/a", "/b")
    for path in ("/a", "/b", "/a", "/a"):
        scene.history.set(path, b"1")
    scene.lose_sight()
    for index in told:
        scene.tell(index)
    scene.lose_sight()  # the same gap is prolonged
    scene.infer(3)
    scene.come_in_sync()
    assert scene.judge().is_clean is is_clean


def test_connection_that_came_in_sync_tells_every_path() -> None:
    scene = begin("/a", "/b")
    for path in ("/a", "/b", "/a"):
        scene.history.set(path, b"1")
    scene.lose_sight()
    scene.tell(2)
    scene.tell(4)
    scene.come_in_sync()
    assert scene.judge().unexplained


@pytest.mark.parametrize(
    ("reason", "follows", "is_clean"),
    [
        ("disconnected", True, True),
        ("restart", False, True),  # the delete was not committed
        ("disconnected", False, False),
    ],
)
def test_znode_that_must_have_been_there(reason: str, follows: bool, is_clean: bool) -> None:
    scene = begin("/a")
    scene.history.create("/b", b"0")
    scene.history.delete("/b")
    scene.lose_sight()
    scene.suppose("/b")
    if follows:
        scene.tell(2, stat={})
    else:
        scene.lose_sight("h", reason)
        scene.infer(2, stat={})
    scene.come_in_sync()
    assert scene.judge().is_clean is is_clean


def test_nobody_must_have_been_there_outside_a_gap() -> None:
    scene = begin("/a")
    scene.history.create("/b", b"0")
    scene.history.delete("/b")
    scene.suppose("/b")
    scene.tell(2, stat={})
    assert scene.judge().phantoms


@pytest.mark.parametrize(("is_over", "is_clean"), [(True, True), (False, False)])
def test_version_may_lack_for_a_life_that_is_over(is_over: bool, is_clean: bool) -> None:
    scene = begin("/a")
    scene.history.set("/a", b"1")
    scene.history.set("/a", b"2")
    if is_over:
        scene.history.delete("/a")
    scene.lose_sight()
    scene.tell(2, stat={}, fidelity="superseded")
    if is_over:
        scene.tell(3, stat={})
    else:
        scene.read(2)
    scene.come_in_sync()
    accounts = scene.judge()
    assert not accounts.phantoms if is_clean else accounts.phantoms
    assert accounts.is_clean is is_clean


def test_version_lacks_in_sight() -> None:
    scene = begin("/a")
    scene.history.set("/a", b"1")
    scene.history.delete("/a")
    scene.tell(1, stat={}, fidelity="superseded")
    scene.tell(2, stat={})
    assert scene.judge().phantoms


@pytest.mark.parametrize(("stat", "is_clean"), [({"version": 0}, True), (None, False)])
def test_read_names_only_a_life_that_had_no_czxid(
    stat: dict[str, int] | None, is_clean: bool
) -> None:
    scene = begin("/a")
    scene.history.create("/b", b"0")
    named = {} if stat is None else {"stat": stat}
    scene.tell(1, fidelity="superseded", **named)
    scene.ideal.position = 2
    scene.history.set("/b", b"1")
    scene.history.delete("/b")
    scene.history.create("/b", b"2")
    scene.lose_sight()
    scene.read(4)
    scene.ideal.publish("gap", "/", gap={"id": "g", "reason": "disconnected", "lives": 1})
    scene.come_in_sync()
    assert scene.judge().is_clean is is_clean


@pytest.mark.parametrize(("named_by", "is_clean"), [(None, True), (0, False), (2, False)])
def test_delete_without_czxid_may_end_two_lives(named_by: int | None, is_clean: bool) -> None:
    """Never with the name of the life before, nor with that of the last one and no word of it."""
    scene = begin("/a")
    scene.history.delete("/a")
    scene.history.create("/a", b"1")
    scene.history.delete("/a")
    changes = scene.history.changes
    scene.lose_sight()
    scene.tell(3, stat={} if named_by is None else {"czxid": changes[named_by].czxid})
    scene.ideal.publish("gap", "/", gap={"id": "g", "reason": "disconnected", "lives": 1})
    scene.come_in_sync()
    assert scene.judge().is_clean is is_clean


@pytest.mark.parametrize(("parent_is_new", "is_clean"), [(True, True), (False, False)])
def test_lives_may_stay_uncounted_in_a_parent_born_unseen(
    parent_is_new: bool, is_clean: bool
) -> None:
    scene = begin("/b") if parent_is_new else begin("/a")
    scene.history.create("/c", b"")
    if parent_is_new:
        scene.history.create("/a", b"0")
    scene.history.create("/a/x", b"0")
    scene.history.delete("/a/x")
    scene.lose_sight()
    scene.infer(1)
    if parent_is_new:
        scene.infer(2)
    scene.come_in_sync()
    assert scene.judge().is_clean is is_clean


@pytest.mark.parametrize(("is_multi", "is_clean"), [(True, True), (False, False)])
def test_zxid_min_may_be_its_own_only_in_a_multi(is_multi: bool, is_clean: bool) -> None:
    scene = begin("/a")
    if is_multi:
        scene.history.write(Op("create", "/b", b"0"), Op("delete", "/b"))
    else:
        scene.history.create("/b", b"0")
        scene.history.delete("/b")
    scene.tell(1)
    scene.ideal.position = 2
    scene.lose_sight()
    scene.infer(2, zxid_min=scene.history.changes[2].zxid)
    scene.come_in_sync()
    assert scene.judge().is_clean is is_clean


@pytest.mark.parametrize(("heard", "is_clean"), [(3, True), (0, False)])
def test_first_look_of_one_shot_watches_is_not_an_instant(heard: int, is_clean: bool) -> None:
    """A life that was over by the next zxid named may go uncounted; a later one may not."""
    scene = begin("/a", coalescing=True)
    scene.history.create("/b", b"0")
    scene.history.delete("/b")
    scene.history.set("/a", b"1")
    scene.ideal.publish("heartbeat", "/", zxid=scene.history.changes[heard].zxid)
    scene.tell(3)
    assert scene.judge().is_clean is is_clean


@pytest.mark.parametrize("is_guessed", [False, True])
def test_below_a_sealed_znode_nothing_is_found_and_nothing_guessed(is_guessed: bool) -> None:
    """A child born unseen may stay unknown; the end of one that lives may not be told."""
    scene = begin("/a")
    scene.history.create("/a/x", b"0")
    scene.tell(1)
    scene.ideal.position = 2
    scene.history.create("/a/y", b"0")
    scene.lose_sight()
    if is_guessed:
        scene.ideal.publish("delete", "/a/x", origin="resync", stat={})
    scene.come_in_sync()
    accounts = account(scene.history.changes, scene.ideal.records, sealed={"/a"})
    assert accounts.is_clean is not is_guessed
    assert not scene.judge().is_clean


def test_sealed_znode_that_lives_has_not_ended() -> None:
    scene = begin("/a", "/b")
    scene.ideal.publish("unreadable", "/b", origin="scan", fidelity="unreadable", stat={})
    scene.ideal.publish("delete", "/b", origin="audit", stat={})
    accounts = account(scene.history.changes, scene.ideal.records, sealed={"/b"})
    assert accounts.phantoms
