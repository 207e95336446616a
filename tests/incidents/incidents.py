"""Incidents with known causes, two things going on at once in most: what Why must tell apart.

Ten minutes of calm, then it goes wrong from minute 10 on. `causes` in the order of the records that
they add: one or two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.incidents.simulation import GROUP, Act, Simulation
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
    settings: dict[str, Any] = {}  # noqa: RUF012
    seconds: int = 960
    # Whose lag is asked about; the lag of every other group does not rise.
    group: str = GROUP

    def run(self) -> list[Event]:
        """Its log."""
        return Simulation(**self.settings).run(self.seconds, list(self.acts))


def at(second: int, act: Callable[[Simulation], None]) -> tuple[int, Act]:
    """An act so many seconds after the calm."""
    return (BAD_S + second, act)


_BURST = (at(0, lambda s: s.produce(80)), at(60, lambda s: s.produce(10)))
INCIDENTS = (
    Incident("nothing but a burst", _BURST, ("producers_faster",), "topic orders"),
    Incident(
        "a burst during a rebalance",
        (*_BURST, at(5, lambda s: s.readers.join("c"))),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "a burst after a broker was back",
        (
            at(-200, lambda s: s.crash_broker(1)),
            at(-180, lambda s: s.start_broker(1)),
            *_BURST,
        ),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "a burst while a config changes",
        (*_BURST, at(3, lambda s: s.configure("retention.ms", "3600000"))),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "a killed owner",
        (at(0, lambda s: s.readers.kill("b")),),
        ("owner_crashed",),
        "member readers_b",
    ),
    Incident(
        "a killed owner while a leader moves",
        (at(0, lambda s: s.readers.kill("b")), at(8, lambda s: s.move_leader(0, 2))),
        ("owner_crashed",),
        "member readers_b",
    ),
    Incident(
        "a killed owner and a config change",
        (
            at(0, lambda s: s.readers.kill("a")),
            at(2, lambda s: s.configure("cleanup.policy", "delete")),
        ),
        ("owner_crashed",),
        "member readers_a",
    ),
    Incident(
        "a stuck owner",
        (
            at(0, lambda s: s.readers.stick("a")),
            at(120, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a stuck owner and a broker that leads elsewhere goes",
        (
            at(0, lambda s: s.readers.stick("a")),
            at(100, lambda s: s.crash_broker(3)),
            at(140, lambda s: s.start_broker(3)),
            at(150, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck", "leader_away"),
        "member readers_a",
    ),
    Incident(
        "a stuck owner and a broker whose records were read again long before the peak",
        (
            at(0, lambda s: s.readers.stick("a")),
            at(20, lambda s: s.crash_broker(3)),
            at(40, lambda s: s.start_broker(3)),
            at(150, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a broker away",
        (at(0, lambda s: s.crash_broker(1)), at(60, lambda s: s.start_broker(1))),
        ("leader_away",),
        "broker 1",
    ),
    Incident(
        "a broker away while a member joins",
        (
            at(0, lambda s: s.crash_broker(1)),
            at(30, lambda s: s.readers.join("c")),
            at(60, lambda s: s.start_broker(1)),
        ),
        ("leader_away",),
        "broker 1",
    ),
    Incident(
        "a slow reader and a config change",
        (
            at(0, lambda s: s.readers.slow("a", 3)),
            at(4, lambda s: s.configure("max.message.bytes", "2000000")),
            at(150, lambda s: s.readers.slow("a", 25)),
        ),
        ("readers_slower",),
        "member readers_a",
    ),
    Incident(
        "a slow reader and a short rebalance",
        (
            at(0, lambda s: s.readers.slow("a", 3)),
            at(20, lambda s: s.readers.join("c")),
            at(150, lambda s: s.readers.slow("a", 25)),
        ),
        ("readers_slower",),
        "member readers_a",
    ),
    Incident(
        "offsets set back during a burst",
        (
            at(0, lambda s: s.produce(20)),
            at(5, lambda s: s.readers.rewind(0, 6000)),
            at(40, lambda s: s.produce(10)),
        ),
        ("offsets_set_back", "producers_faster"),
        "orders-0",
    ),
    Incident(
        "a burst on one partition while the owner of another dies",
        (
            at(0, lambda s: s.produce(150, 0)),
            at(10, lambda s: s.readers.kill("b")),
            at(50, lambda s: s.produce(10, 0)),
        ),
        ("producers_faster", "owner_crashed"),
        "topic orders",
    ),
    Incident(
        "everybody stops",
        (
            at(0, lambda s: s.readers.stop("a")),
            at(1, lambda s: s.readers.stop("b")),
            at(120, lambda s: s.readers.join("a")),
        ),
        ("unowned",),
    ),
    Incident(
        "a burst and a slow reader at once",
        (
            at(0, lambda s: s.produce(60)),
            at(0, lambda s: s.readers.slow("a", 5)),
            at(60, lambda s: s.produce(10)),
            at(150, lambda s: s.readers.slow("a", 25)),
        ),
        ("producers_faster", "readers_slower"),
        "topic orders",
    ),
)
