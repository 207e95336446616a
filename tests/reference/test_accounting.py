"""The accounting raises no false alarm: whatever an honest watcher may publish is clean."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from tests.reference.accounting import CLASSES, account
from tests.reference.history import History
from tests.reference.ideal import Ideal
from tests.reference.story import publish, write_history
from tests.reference.txnlog import Op


@pytest.mark.parametrize("has_zxid", [True, False])
def test_ideal_log_is_clean(has_zxid: bool) -> None:
    history, ideal = publish(has_zxid=has_zxid)
    accounts = account(history.changes, ideal.records)
    assert accounts.is_clean, str(accounts)
    assert accounts.counts == {"before": 2, "published": 10, "in_gap": 6}


def grow_history(dice: Random, pieces: int) -> tuple[History, list[int]]:
    """A random history, and places between transactions to cut it at."""
    history = History()
    history.grow(dice, 100)
    changes = history.changes
    ends = [i for i in range(1, len(changes)) if changes[i].zxid != changes[i - 1].zxid]
    return history, sorted(dice.sample(ends, pieces))


def watch_with_gaps(seed: int) -> tuple[History, Ideal]:
    """Two gaps; after the second, some changes come in sight before in_sync."""
    history, cuts = grow_history(Random(seed), 5)
    ideal = Ideal(history.changes, has_zxid=seed % 2 == 0)
    ideal.start(cuts[0])
    ideal.watch(cuts[1])
    ideal.miss(cuts[2])
    ideal.watch(cuts[3])
    ideal.miss(cuts[4], seen_in_scan=min(3, len(history.changes) - cuts[4]))
    ideal.watch(len(history.changes))
    return history, ideal


def look_now_and_then(seed: int) -> tuple[History, Ideal]:
    """One-shot watches: only differences between looks."""
    history, cuts = grow_history(Random(seed), 12)
    ideal = Ideal(history.changes, has_zxid=False)
    ideal.start(cuts[0], coalescing=True)
    for cut in [*cuts[1:], len(history.changes)]:
        ideal.look(cut)
    return history, ideal


@pytest.mark.parametrize("observe", [watch_with_gaps, look_now_and_then])
def test_random_histories_are_clean(observe: Callable[[int], tuple[History, Ideal]]) -> None:
    for seed in range(100):
        history, ideal = observe(seed)
        accounts = account(history.changes, ideal.records)
        assert accounts.is_clean, f"seed {seed}: {accounts}"
        assert accounts.counts.total() == len(history.changes)
        assert set(accounts.counts) <= set(CLASSES)


@pytest.mark.parametrize(
    ("observe", "ops"),
    [
        (watch_with_gaps, ("create", "set", "delete")),
        # Nobody can tell how often a znode was set before a delete between two looks.
        (look_now_and_then, ("create", "delete")),
    ],
)
def test_no_dropped_event_goes_unnoticed(
    observe: Callable[[int], tuple[History, Ideal]], ops: tuple[str, ...]
) -> None:
    """Any one event of a change left out, watched or inferred, with or without zxid."""
    for seed in range(100):
        history, ideal = observe(seed)
        told = [r for r in ideal.records if r["op"] in ops]
        lost = Random(seed).choice(told)
        ideal.records.remove(lost)
        accounts = account(history.changes, ideal.records)
        assert accounts.unexplained or accounts.phantoms, f"seed {seed}: {lost}"


def test_withheld_values_have_their_own_classes() -> None:
    history, ideal = publish()
    events = [r for r in ideal.records if r.get("origin") == "watch" and r["op"] != "delete"]
    for event, fidelity in zip(events, ("superseded", "redacted", "oversize"), strict=False):
        event["fidelity"] = fidelity
        event.pop("data", None)
        event.pop("data_b64", None)
    accounts = account(history.changes, ideal.records)
    assert accounts.is_clean, str(accounts)
    expected = {"published": 7, "superseded": 1, "redacted": 1, "oversize": 1}
    assert accounts.counts == {**expected, "before": 2, "in_gap": 6}


@pytest.mark.parametrize("has_zxid", [True, False])
def test_sealed_paths_may_lack_events(has_zxid: bool) -> None:
    history, ideal = publish(has_zxid=has_zxid)
    ideal.records = [r for r in ideal.records if r["path"] != "/b/f"]
    for place, record in enumerate(ideal.records):
        record["seq"] = place
    accounts = account(history.changes, ideal.records, sealed={"/b/f"})
    assert accounts.is_clean, str(accounts)
    assert accounts.counts["sealed"] == 2


def test_gap_may_open_inside_a_multi() -> None:
    history = History()
    history.create("/a", b"0")
    history.write(Op("set", "/a", b"1", 1), Op("set", "/a", b"2", 2), Op("create", "/b", b""))
    ideal = Ideal(history.changes)
    ideal.start(1)
    ideal.watch(2)
    ideal.miss(4)
    accounts = account(history.changes, ideal.records)
    assert accounts.is_clean, str(accounts)
    assert accounts.counts == {"before": 1, "published": 1, "in_gap": 2}


def test_gap_that_never_ended_is_declared() -> None:
    history, ideal = publish()
    opened = next(r for r in ideal.records if "from_zxid" in r.get("gap", {}))
    accounts = account(history.changes, ideal.records[: ideal.records.index(opened) + 1])
    assert accounts.is_clean, str(accounts)
    assert accounts.ends_in_gap
    assert accounts.counts["in_gap"] == 7


def test_gap_inside_a_scan_and_a_base_frame_in_sight() -> None:
    history = write_history()
    ideal = Ideal(history.changes)
    ideal.start(2)
    ideal.watch(5)
    ideal.miss(11)
    ended = ideal.records.pop()
    assert ended["op"] == "in_sync"
    ideal.miss(16)
    ideal.read_frame("model")
    ideal.watch(18)
    accounts = account(history.changes, ideal.records)
    assert accounts.is_clean, str(accounts)
    assert accounts.counts == {"before": 2, "published": 5, "in_gap": 11}


def test_znode_missing_from_a_frame_in_sight_is_found() -> None:
    history = write_history()
    ideal = Ideal(history.changes)
    ideal.start(2)
    ideal.watch(18)
    ideal.read_frame("model")
    ideal.records.remove(
        [r for r in ideal.records if r["path"] == "/a/c" and r["op"] == "read"][-1]
    )
    accounts = account(history.changes, ideal.records)
    assert accounts.unexplained == [
        f"seq {ideal.records[-1]['seq']} in_sync / (, exact): the frame lacks /a/c"
    ]
