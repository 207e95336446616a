"""A path as long as ZooKeeper allows is told by a shorter one, and every record fits."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.watcher.simulation import PATHS, Simulation
from watcher import census, long_paths, sealing
from watcher.log.batch import MAX_RECORD_BYTES, check_sizes
from watcher.long_paths import NAME_CHARS, hides_depth, is_hashed, is_shortened, shorten
from watcher.messages import ZnodeStat
from watcher.release import Release
from watcher.sealing import Sealing
from watcher.tree import Tree, parent_of
from zklake.events.envelope import Event, Meta, Stat, decode, encode
from zklake.events.redaction import Redactor
from zklake.settings.models import WatcherSettings

REDACTOR = Redactor(b"test", publish_paths=["/**"])
LARGEST = 1 << 20
STEPS = 140


def seal(path: str) -> str:
    return Sealing(REDACTOR, 900_000).path(path)


NAMES = st.text('ab~."\\é0', min_size=1, max_size=12)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that make no difference but the time it takes."""
    for module in (long_paths, sealing, census):
        monkeypatch.setattr(module, "NAME_CHARS", 90, raising=False)
        monkeypatch.setattr(module, "PARENT_CHARS", 300, raising=False)


def lengthen(more: int = 90) -> tuple[str, ...]:
    return tuple("/".join(name and name + "x" * more for name in p.split("/")) for p in PATHS)


@given(st.lists(NAMES, min_size=1, max_size=12))
def test_a_shortened_path_keeps_its_place_and_stays(names: list[str]) -> None:
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(long_paths, "NAME_CHARS", 90)
        limits.setattr(long_paths, "PARENT_CHARS", 600)
        path = "/" + "/".join(name * 12 for name in names)
        short = shorten(path, REDACTOR.hash_name)
        assert shorten(short, REDACTOR.hash_name) == short
        assert len(short) <= 600 + 1 + 90 + 21
        if short != path:
            assert is_hashed(short)
            assert is_shortened(short)
        above = shorten(parent_of(path) or "/", REDACTOR.hash_name)
        if not hides_depth(above):
            assert parent_of(short) == above
        assert shorten(path + "x", REDACTOR.hash_name) != short


def test_paths_of_kafka_stay_as_they_are() -> None:
    for path in (
        "/",
        "/brokers/ids/1",
        "/config/topics/" + "t" * 249,
        "/" + "g" * (NAME_CHARS - 1),
    ):
        assert (seal(path), is_shortened(path)) == (path, False)


def test_deep_below_a_token_the_path_stays_sealed() -> None:
    sealed = seal("/delegation_token/tokens/" + "/".join(["id"] * 2000))
    assert "/id" not in sealed
    assert seal(sealed) == sealed


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("recursive", [True, False], ids=["recursive", "one_shot"])
def test_a_tree_of_long_names_is_told_like_one_of_short_names(recursive: bool) -> None:
    """Every create, set and delete of a long name agrees with what its short twin is told."""
    paths = lengthen()
    ours = Sealing(REDACTOR, 900_000)
    renamed = {ours.path(long): short for long, short in zip(paths, PATHS, strict=True)}
    renamed["/"] = "/"
    for seed in range(300):
        logs = []
        for names in (PATHS, paths):
            simulation = Simulation(
                seed, event_zxid=seed % 2 == 0, recursive=recursive, limit=1 + seed % 5,
                sealer=ours, paths=names,
            )  # fmt: skip
            simulation.run(STEPS)
            logs.append(simulation.log)
        short, long = logs
        told = [(e.op, e.path, e.origin, e.stat, e.missed, e.gap) for e in short.events()]
        assert told == [
            (e.op, renamed[e.path or ""], e.origin, e.stat, e.missed, e.gap) for e in long.events()
        ], f"seed {seed}"
        rows = {renamed[path]: row for path, row in long.rows.items()}
        assert rows == short.rows, f"seed {seed}"


@pytest.mark.usefixtures("small")
def test_a_long_name_below_an_unreadable_parent_is_not_taken_for_gone() -> None:
    paths = tuple(
        "/".join(name and name + "x" * NAME_CHARS for name in p.split("/")) for p in PATHS
    )
    ours = Sealing(REDACTOR, 900_000)
    for seed in range(300):
        simulation = Simulation(seed, sealed=frozenset({paths[2]}), sealer=ours, paths=paths)
        simulation.run(STEPS)
        told = Counter(e.path for e in simulation.log.events() if e.op == "delete")
        done = Counter(ours.path(c.path) for c in simulation.server.changes if c.op == "delete")
        assert told <= done, f"seed {seed}"


@pytest.mark.usefixtures("small")
def test_names_of_a_tree_too_deep_are_told_and_the_tree_comes_to_rest() -> None:
    top = "".join(f"/{letter}" + "y" * 85 for letter in "pqr")
    paths = (*(top[: 87 * n] for n in (1, 2, 3)), *(top + path for path in lengthen(60)))
    ours = Sealing(REDACTOR, 900_000)
    assert len({ours.path(path) for path in paths}) == len(paths)
    assert any(hides_depth(ours.path(path)) for path in paths)
    for seed in range(100):
        simulation = Simulation(seed, limit=1 + seed % 5, sealer=ours, paths=paths)
        simulation.run(2 * STEPS)
        rows = {path: row.version for path, row in simulation.log.rows.items() if row is not None}
        nodes = simulation.server.nodes
        assert rows == {ours.path(path): node.version for path, node in nodes.items()}, seed


@pytest.mark.parametrize("name", ["a", '"', "\\", "é"], ids=["plain", "quote", "backslash", "wide"])
def test_the_longest_path_that_zookeeper_takes_makes_a_record_that_fits(name: str) -> None:
    path = "/" + name * (LARGEST // len(name.encode()))
    release = Release("c", Meta("log", 1, 0, 0), Tree(), Sealing(REDACTOR, 900_000))
    stat = ZnodeStat(1, 1, 0, 0, 0, 0, 0, 0, 9, 0, 1)
    assert release.see(path, stat, b"x" * 890_000, 1)
    batch = release.take()
    assert batch is not None
    check_sizes(batch)
    (event,) = map(decode, batch.events)
    assert (event.path, event.fidelity, event.data) == (seal(path), "oversize", None)
    assert event.data_hash == REDACTOR.hash_data(b"x" * 890_000)
    assert set(batch.rows) == {event.path}


def test_a_record_is_never_larger_than_the_setting_says() -> None:
    dice = random.Random(3)
    for limit in (100_000, 900_000, MAX_RECORD_BYTES):
        ours = Sealing(REDACTOR, limit)
        for _ in range(60):
            path = seal("/" + dice.choice('a"') * dice.choice((1, 4000, 100_000)))
            raw = dice.choice((b"a", b'"', b"\n", b"\xff")) * dice.randrange(1 << 20)
            text, b64, zlib_b64, data_hash, fidelity = ours.seal(path, raw)
            most = (1 << 63) - 1
            event = Event(
                "c" * 200, "f" * 16, most, "unreadable", most, 1, path, "k" * 60, most, most, most,
                text, b64, zlib_b64, data_hash, fidelity, Stat(*[most] * 11), "resync", most,
            )  # fmt: skip
            assert len(encode(event)) <= limit


def test_the_setting_stays_below_what_the_log_takes() -> None:
    WatcherSettings(max_record_bytes=MAX_RECORD_BYTES)
    with pytest.raises(ValueError, match="max_record_bytes"):
        WatcherSettings(max_record_bytes=MAX_RECORD_BYTES + 1)
