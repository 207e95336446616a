"""The short way of a first scan says, byte by byte, what the long way says."""

from __future__ import annotations

import pytest

from tests.watcher.simulation import Simulation
from watcher.messages import ZnodeStat
from watcher.release import Release
from watcher.sealing import Sealing
from zklake.events.redaction import Redactor

SEEDS = 200
STEPS = 100
# Some values are published, some withheld; each has a hash of its own.
SEALING = Sealing(Redactor(b"test", publish_paths=["/a/**"]), 1 << 20)


class Way:
    """Takes the short way and counts it, or refuses it."""

    def __init__(self, *, is_open: bool) -> None:
        self.is_open = is_open
        self.taken = 0
        self._see = Release.see

    def see(
        self, release: Release, path: str, stat: ZnodeStat, data: bytes | None, at_ms: int
    ) -> bool:
        is_taken = self.is_open and self._see(release, path, stat, data, at_ms)
        self.taken += is_taken
        return is_taken


def simulate(seed: int, sealed: frozenset[str]) -> Simulation:
    simulation = Simulation(
        seed, event_zxid=seed % 2 == 0, limit=1 + seed % 5, sealed=sealed, sealer=SEALING
    )
    for _ in range(40):
        simulation.write()  # nobody looks yet: a tree to be met
    snapshot = simulation.server.snapshot()
    if seed % 3 == 0:
        # A scan that goes on undisturbed for a while; the others are disturbed from the start.
        simulation.connect()
        for _ in range(seed % 40):
            simulation.answer()
            simulation.deliver()
    simulation.act(STEPS)
    if seed % 4 == 0:
        # The model is lost: a second first scan, in the middle of a log.
        simulation.restore(snapshot)
    simulation.run(STEPS)
    return simulation


@pytest.mark.parametrize("sealed", [frozenset(), frozenset({"/a/x"})], ids=["open", "sealed"])
def test_the_short_way_equals_the_long_way(
    sealed: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = Way(is_open=True), Way(is_open=False)
    for seed in range(SEEDS):
        told = []
        for way in ways:
            monkeypatch.setattr(Release, "see", lambda *args, way=way: way.see(*args))
            simulation = simulate(seed, sealed)
            release, log = simulation.chronicle.release, simulation.log
            told.append(
                {
                    "records": log.records,
                    "rows": log.rows,
                    "meta": log.meta,
                    "counts": release.counts,
                    "unseen": (release.missed_versions, release.unseen_lives),
                    "unreadable": release.unreadable,
                    "audits": simulation.chronicle.state.audit_differences,
                }
            )
        for name, value in told[0].items():
            assert value == told[1][name], f"seed {seed}: {name}"
    assert ways[0].taken > 4 * SEEDS
    assert ways[1].taken == 0
