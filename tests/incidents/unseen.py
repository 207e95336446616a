"""Incidents whose causes were written down before the rules of Why had met any of them.

Most come in the middle of others: an owner dies while a broker is away, a reader is slow while
producers burst, a stuck owner's partitions go to another. Like incidents.py, which were tuned for.
"""

from __future__ import annotations

from tests.incidents.incidents import Incident, at
from tests.incidents.simulation import Act


def _storm(since: int, until: int) -> tuple[tuple[int, Act], ...]:
    """Of ten seconds the group is without owners for eight, as tries to claim fail."""
    acts: list[tuple[int, Act]] = []
    for second in range(since, until, 10):
        acts.append(at(second, lambda s: s.readers.release()))
        acts.append(at(second + 8, lambda s: s.readers.claim()))
    return tuple(acts)


def _turns(since: int, until: int, every: int) -> tuple[tuple[int, Act], ...]:
    """A member comes and goes again and again: everybody lets go and claims each time."""
    acts: list[tuple[int, Act]] = []
    for number, second in enumerate(range(since, until, every)):
        acts.append(at(second, _leave if number % 2 else _come))
    return tuple(acts)


_come: Act = lambda s: s.readers.join("c")  # noqa: E731
_leave: Act = lambda s: s.readers.stop("c")  # noqa: E731

UNSEEN = (
    Incident(
        "a slow reader, and a burst on what another reads",
        (
            at(0, lambda s: s.readers.slow("b", 4)),
            at(80, lambda s: s.produce(60, 0)),
            at(110, lambda s: s.produce(10, 0)),
            at(150, lambda s: s.readers.slow("b", 25)),
        ),
        ("readers_slower", "producers_faster"),
        "member readers_b",
    ),
    Incident(
        "a dead owner while a broker is away",
        (
            at(0, lambda s: s.crash_broker(1)),
            at(10, lambda s: s.readers.kill("b")),
            at(60, lambda s: s.start_broker(1)),
        ),
        ("leader_away", "owner_crashed"),
        "broker 1",
    ),
    Incident(
        "offsets set back while nobody owned anything",
        (
            at(0, lambda s: s.readers.stop("a")),
            at(1, lambda s: s.readers.stop("b")),
            at(60, lambda s: s.readers.rewind(0, 8000)),
            at(120, lambda s: s.readers.join("a")),
        ),
        ("offsets_set_back", "unowned"),
        "orders-0",
    ),
    Incident(
        "two groups, and only one has a member that is stuck, while somebody joins the other",
        (
            at(0, lambda s: s.groups["others"].stick("x")),
            at(30, lambda s: s.readers.join("c")),
            at(150, lambda s: s.groups["others"].stick("x", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member others_x",
        {"others": {"others": ("x", "y")}},
        group="others",
    ),
    Incident(
        "partitions are added during a burst",
        (
            at(0, lambda s: s.produce(80)),
            at(20, lambda s: s.add_partitions(2)),
            at(60, lambda s: s.produce(10)),
        ),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "members that come and go during a burst",
        (at(0, lambda s: s.produce(80)), *_turns(0, 60, 6), at(60, lambda s: s.produce(10))),
        ("producers_faster",),
        "topic orders",
    ),
    Incident(
        "rebalances that leave partitions without owners, and a little more to read",
        (at(0, lambda s: s.produce(20)), *_storm(0, 60), at(60, lambda s: s.produce(10))),
        ("unowned",),
        "group readers",
    ),
    Incident(
        "a stuck owner whose partitions another takes over",
        (
            at(0, lambda s: s.readers.stick("a")),
            at(150, lambda s: s.readers.join("0")),
            at(200, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a stuck owner that lets go and claims again and again",
        (
            at(0, lambda s: s.readers.stick("a")),
            *_turns(20, 150, 20),
            at(160, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a dead owner, and the one that takes over is stuck",
        (
            at(0, lambda s: s.readers.kill("b")),
            at(22, lambda s: s.readers.stick("a")),
            at(150, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck", "owner_crashed"),
        "member readers_a",
    ),
    Incident(
        "a broker away, and then a stuck owner of some of its partitions",
        (
            at(0, lambda s: s.crash_broker(1)),
            at(30, lambda s: s.readers.stick("a")),
            at(40, lambda s: s.start_broker(1)),
            at(160, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck", "leader_away"),
        "member readers_a",
    ),
    Incident(
        "a killed owner in the middle of a burst",
        (
            at(0, lambda s: s.produce(80)),
            at(20, lambda s: s.readers.kill("b")),
            at(60, lambda s: s.produce(10)),
        ),
        ("producers_faster", "owner_crashed"),
        "topic orders",
    ),
    # Written down when the rules had been mended for those above, and before any was run.
    Incident(
        "a slow reader that dies",
        (at(0, lambda s: s.readers.slow("b", 2)), at(60, lambda s: s.readers.kill("b"))),
        ("readers_slower", "owner_crashed"),
        "member readers_b",
    ),
    Incident(
        "everybody stops during a burst",
        (
            at(0, lambda s: s.produce(40)),
            at(30, lambda s: s.readers.stop("a")),
            at(31, lambda s: s.readers.stop("b")),
            at(90, lambda s: s.readers.join("a")),
            at(120, lambda s: s.produce(10)),
        ),
        ("unowned", "producers_faster"),
        "group readers",
    ),
    Incident(
        "an offset set back while a broker that leads others is away",
        (
            at(0, lambda s: s.crash_broker(1)),
            at(20, lambda s: s.readers.rewind(1, 3000)),
            at(60, lambda s: s.start_broker(1)),
        ),
        ("offsets_set_back", "leader_away"),
        "orders-1",
    ),
    Incident(
        "two brokers away, and what the first led is read again",
        (
            at(0, lambda s: s.crash_broker(1)),
            at(40, lambda s: s.start_broker(1)),
            at(50, lambda s: s.crash_broker(2)),
            at(250, lambda s: s.start_broker(2)),
        ),
        ("leader_away",),
        "broker 2",
    ),
    Incident(
        "a stuck owner and a burst",
        (
            at(0, lambda s: s.readers.stick("a")),
            at(20, lambda s: s.produce(40)),
            at(50, lambda s: s.produce(10)),
            at(150, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck", "producers_faster"),
        "member readers_a",
    ),
    Incident(
        "partitions are added while an owner is stuck",
        (
            at(0, lambda s: s.readers.stick("a")),
            at(60, lambda s: s.add_partitions(2)),
            at(150, lambda s: s.readers.stick("a", is_stuck=False)),
        ),
        ("owner_stuck",),
        "member readers_a",
    ),
    Incident(
        "a slow reader, and the other one stops",
        (
            at(0, lambda s: s.readers.slow("b", 5)),
            at(20, lambda s: s.readers.stop("a")),
            at(150, lambda s: s.readers.slow("b", 25)),
        ),
        ("readers_slower",),
        "member readers_b",
    ),
    Incident(
        "a stuck owner that somebody kills",
        (at(0, lambda s: s.readers.stick("a")), at(100, lambda s: s.readers.kill("a"))),
        ("owner_stuck", "owner_crashed"),
        "member readers_a",
    ),
)
