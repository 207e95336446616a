"""Incidents with known causes, two things going on at once in most: what Why must tell apart.

Ten minutes of calm, then it goes wrong from minute 10 on. `causes` in the order of the records that
they add; a name in brackets is one of which more than one may be said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.incidents.simulation import Act, Simulation
from zklake.events.envelope import Event

BAD_S = 600


class Incident(NamedTuple):
    """What happens, and what made the lag rise: the largest cause first."""

    name: str
    acts: tuple[tuple[int, Act], ...]
    causes: tuple[str, ...]
    # Whose doing the first was.
    entity: str | None = None
    # What shapes the cluster.
    settings: dict[str, float] = {}  # noqa: RUF012
    seconds: int = 960

    def run(self) -> list[Event]:
        """Its log."""
        return Simulation(**self.settings).run(self.seconds, list(self.acts))  # type: ignore[arg-type]


def _at(second: int, act: Callable[[Simulation], None]) -> tuple[int, Act]:
    return (BAD_S + second, act)


_BURST = (_at(0, lambda s: s.produce(80)), _at(60, lambda s: s.produce(10)))
INCIDENTS = (
    Incident("nothing but a burst", _BURST, ("producers_faster",), "topic orders"),
    Incident(
        "a burst during a rebalance",
        (*_BURST, _at(5, lambda s: s.join("c"))),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "a burst after a broker was back",
        (
            _at(-200, lambda s: s.crash_broker(1)),
            _at(-180, lambda s: s.start_broker(1)),
            *_BURST,
        ),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "a burst while a config changes",
        (*_BURST, _at(3, lambda s: s.configure("retention.ms", "3600000"))),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "a killed owner",
        (_at(0, lambda s: s.kill("b")),),
        ("owner_crashed",),
        "member readers_b",
    ),
    Incident(
        "a killed owner while a leader moves",
        (_at(0, lambda s: s.kill("b")), _at(8, lambda s: s.move_leader(0, 2))),
        ("owner_crashed",),
        "member readers_b",
    ),
    Incident(
        "a killed owner and a config change",
        (
            _at(0, lambda s: s.kill("a")),
            _at(2, lambda s: s.configure("cleanup.policy", "delete")),
        ),
        ("owner_crashed",),
        "member readers_a",
    ),
    Incident(
        "a stuck owner",
        (_at(0, lambda s: s.stick("a")), _at(120, lambda s: s.stick("a", is_stuck=False))),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a stuck owner and a broker that leads elsewhere goes",
        (
            _at(0, lambda s: s.stick("a")),
            _at(100, lambda s: s.crash_broker(3)),
            _at(140, lambda s: s.start_broker(3)),
            _at(150, lambda s: s.stick("a", is_stuck=False)),
        ),
        ("owner_stuck", "leader_away"),
        "member readers_a",
    ),
    Incident(
        "a stuck owner and a broker whose records were read again long before the peak",
        (
            _at(0, lambda s: s.stick("a")),
            _at(20, lambda s: s.crash_broker(3)),
            _at(40, lambda s: s.start_broker(3)),
            _at(150, lambda s: s.stick("a", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a broker away",
        (_at(0, lambda s: s.crash_broker(1)), _at(60, lambda s: s.start_broker(1))),
        ("leader_away",),
        "broker 1",
    ),
    Incident(
        "a broker away while a member joins",
        (
            _at(0, lambda s: s.crash_broker(1)),
            _at(30, lambda s: s.join("c")),
            _at(60, lambda s: s.start_broker(1)),
        ),
        ("leader_away",),
        "broker 1",
    ),
    Incident(
        "a slow reader and a config change",
        (
            _at(0, lambda s: s.slow("a", 3)),
            _at(4, lambda s: s.configure("max.message.bytes", "2000000")),
            _at(150, lambda s: s.slow("a", 25)),
        ),
        ("readers_slower",),
        "member readers_a",
    ),
    Incident(
        "a slow reader and a short rebalance",
        (
            _at(0, lambda s: s.slow("a", 3)),
            _at(20, lambda s: s.join("c")),
            _at(150, lambda s: s.slow("a", 25)),
        ),
        ("readers_slower",),
        "member readers_a",
    ),
    Incident(
        "offsets set back during a burst",
        (
            _at(0, lambda s: s.produce(20)),
            _at(5, lambda s: s.rewind(0, 6000)),
            _at(40, lambda s: s.produce(10)),
        ),
        ("offsets_set_back", "producers_faster"),
        "orders-0",
    ),
    Incident(
        "a burst on one partition while the owner of another dies",
        (
            _at(0, lambda s: s.produce(150, 0)),
            _at(10, lambda s: s.kill("b")),
            _at(50, lambda s: s.produce(10, 0)),
        ),
        ("producers_faster", "owner_crashed"),
        "topic orders",
    ),
    Incident(
        "everybody stops",
        (
            _at(0, lambda s: s.stop("a")),
            _at(1, lambda s: s.stop("b")),
            _at(120, lambda s: s.join("a")),
        ),
        ("unowned",),
    ),
    Incident(
        "a burst and a slow reader at once",
        (
            _at(0, lambda s: s.produce(60)),
            _at(0, lambda s: s.slow("a", 5)),
            _at(60, lambda s: s.produce(10)),
            _at(150, lambda s: s.slow("a", 25)),
        ),
        ("producers_faster", "readers_slower"),
        "topic orders",
    ),
)
