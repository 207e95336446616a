"""The same simulator where the server withholds znodes, or comes back from an older state."""

from __future__ import annotations

import pytest

from tests.watcher.simulation import Log, Simulation
from tests.watcher.test_simulation import check_by_oracle, check_order

SEALED = (
    frozenset({"/a/x/1"}),
    frozenset({"/b/y"}),
    frozenset({"/b/x", "/a/y"}),
    frozenset({"/a"}),
    frozenset({"/a/x", "/b/y/1"}),
)
SEEDS = 800


@pytest.mark.parametrize("part", range(len(SEALED)))
def test_what_may_not_be_read_is_never_guessed(part: int) -> None:
    """Patched servers hide the events of sealed znodes, not those of readable ones below."""
    for seed in range(part, SEEDS, len(SEALED)):
        recursive = seed % 3 != 2
        simulation = Simulation(
            seed,
            event_zxid=recursive and seed % 2 == 0,
            recursive=recursive,
            limit=1 + seed % 4,
            sealed=SEALED[part],
        )
        simulation.run(160)
        try:
            check_by_oracle(simulation.server, simulation.log)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        unreadable = simulation.chronicle.release.unreadable
        simulation.crash()
        assert simulation.chronicle.release.unreadable == unreadable, f"seed {seed}"


def fold_values(log: Log) -> dict[str, tuple[int, int, str]]:
    """What a reader believes: after a frame without base nothing older counts."""
    state: dict[str, tuple[int, int, str]] = {}
    framed: set[str] = set()
    for event in log.events():
        path, stat = event.path or "/", event.stat
        if event.op == "frame_begin":
            framed = set()
        elif event.op == "in_sync" and event.frame and event.frame.base == "none":
            state = {path: value for path, value in state.items() if path in framed}
        elif event.op == "delete":
            state.pop(path, None)
        elif event.origin is not None and stat is not None:
            framed.add(path)
            state[path] = (stat.czxid or 0, -1 if stat.version is None else stat.version, "")
            if event.fidelity == "exact":
                state[path] = (*state[path][:2], event.data or "")
    return state


@pytest.mark.parametrize("recursive", [True, False])
def test_a_restored_ensemble_is_read_anew(recursive: bool) -> None:
    """Its zxids are used again: an equal czxid and version may hold another value."""
    for seed in range(SEEDS // 2):
        simulation = Simulation(seed, event_zxid=recursive, recursive=recursive, limit=1 + seed % 5)
        simulation.act(60)
        snapshot = simulation.server.snapshot()
        simulation.act(60)
        simulation.restore(snapshot)
        simulation.run(80)
        nodes, log = simulation.server.nodes, simulation.log
        check_order(log.events())
        assert fold_values(log) == {
            path: (node.czxid, node.version, node.data.decode()) for path, node in nodes.items()
        }, f"seed {seed}"
        rows = {path: row for path, row in log.rows.items() if row is not None}
        assert {path: (row.czxid, row.version, row.cversion) for path, row in rows.items()} == {
            path: (node.czxid, node.version, node.cversion) for path, node in nodes.items()
        }, f"seed {seed}"
