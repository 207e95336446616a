"""Seeded logs of one cluster: plausible and nasty. The same seed gives the same log.

Steps of Kafka and of consumers change the tree; the steps here decide how the log tells of it.
"""

from __future__ import annotations

from random import Random

from tests.reference.fold import (
    admin_steps,
    broker_steps,
    group_steps,
    sample_steps,
    topic_steps,
)
from tests.reference.fold.topic_steps import Step
from tests.reference.fold.world import World
from zklake.events.envelope import Event, Frame, Gap, GapReason, Op

_CHANGES = (
    *broker_steps.STEPS,
    *topic_steps.STEPS,
    *group_steps.STEPS,
    *admin_steps.STEPS,
    *sample_steps.STEPS,
)
_CLAIMS: tuple[Op, ...] = ("create", "set", "read")
_REASONS: tuple[GapReason, ...] = ("restart", "disconnected", "session_expired", "backpressure")


def generate(seed: int, cluster: str, length: int) -> list[Event]:
    """A log of so many records, in order of seq; now and then a record stands there twice."""
    world = World(Random(f"{seed}/{cluster}"), cluster)
    if world.chance(0.8):
        _start(world)
    while len(world.events) < length:
        world.pass_time(world.dice.choice((0, 1, 3, 20, 90, 600)))
        _pick(world, (*_CHANGES, *STEPS))(world)
    return world.events[:length]


def _pick(world: World, steps: tuple[tuple[Step, int], ...]) -> Step:
    return world.dice.choices([step for step, _ in steps], [weight for _, weight in steps])[0]


def _change(world: World, most: int) -> None:
    for _ in range(world.dice.randrange(most + 1)):
        world.pass_time(world.dice.choice((0, 5, 400)))
        _pick(world, _CHANGES)(world)


def _start(world: World) -> None:
    """A new log: whatever stands there is read, nothing is known of before."""
    gap = Gap(id=str(world.seq + 1), reason="first_start")
    world.publish("gap", "/", gap=gap)
    world.sight = "blind"
    _change(world, 12)
    world.sight = "watch"
    _look(world, gap.id, base_is_model=False)


def beat(world: World) -> None:
    """A heartbeat, soon or late."""
    world.pass_time(world.dice.choice((0, 200, 499, 500, 1000, 1000, 31_000)))
    world.publish("heartbeat", "/", zxid=world.zxid)


def look_again(world: World) -> None:
    """The daily frame: a read of every znode, while things go on."""
    _look(world, str(world.seq + 1), base_is_model=True)


def _look(world: World, frame_id: str, *, base_is_model: bool) -> None:
    world.publish("frame_begin", "/", frame=Frame(id=frame_id))
    if world.chance(0.1):
        # Broken off, and begun anew.
        _read(world, sorted(world.tree)[:2])
        world.publish("frame_begin", "/", frame=Frame(id=frame_id))
    _read(world, sorted(world.tree))
    base = "model" if base_is_model else "none"
    world.publish("in_sync", "/", frame=Frame(id=frame_id, base=base, znodes=len(world.tree)))  # type: ignore[arg-type]
    world.known = {path: world.known.get(path, znode) for path, znode in world.tree.items()}


def _read(world: World, paths: list[str]) -> None:
    for path in paths:
        if world.chance(0.05):
            _change(world, 1)
        if world.chance(0.01):
            lose_records(world)
        if znode := world.tree.get(path):
            world.tell("read", path, znode, znode.mzxid, "scan")


def miss_some(world: World) -> None:
    """A gap: the tree goes on unseen; then a resync against the model, or without one."""
    gap = Gap(
        id=str(world.seq + 1),
        reason=world.dice.choice(_REASONS),
        from_ms=_gap_from(world),
        from_zxid=world.zxid if world.chance(0.7) else None,
        coalescing=world.chance(0.2),
    )
    world.publish("gap", "/", gap=gap)
    world.sight = "blind"
    _change(world, 8)
    world.sight = "watch"
    if world.chance(0.2):
        world.publish("gap", "/", gap=gap)
    if world.chance(0.1):
        return
    if world.chance(0.4):
        _look(world, gap.id, base_is_model=False)
        return
    _resync(world)
    if world.chance(0.4):
        world.publish("gap", "/consumers", gap=Gap(gap.id, gap.reason, lives=3))
    world.publish("in_sync", "/", frame=Frame(id=gap.id, base="model"))


def _gap_from(world: World) -> int | None:
    """Just before now; of a watcher whose clock was set, after it; or nobody knows."""
    if world.chance(0.9):
        return world.now_ms - world.dice.randrange(900)
    return world.dice.choice((None, None, world.now_ms + 60_000, -1))


def _resync(world: World) -> None:
    """Tell the difference between what is known and what stands there."""
    for path in sorted(set(world.known) | set(world.tree), reverse=True):
        known, znode = world.known.get(path), world.tree.get(path)
        is_other = known is not None and znode is not None and known.czxid != znode.czxid
        if known is not None and (znode is None or is_other):
            world.tell("delete", path, known, None, "resync")
        if znode is None:
            continue
        if known is None or is_other:
            world.tell("create", path, znode, znode.czxid, "resync")
        elif known.version != znode.version:
            world.tell("set", path, znode, znode.mzxid, "resync")
        elif known.unread:
            world.tell("read", path, znode, znode.mzxid, "resync")


def count_lives(world: World) -> None:
    """One-shot watches: lives that passed between two looks, without a gap of their own."""
    gap = Gap(str(world.seq + 1), "coalesced", lives=world.dice.randrange(1, 5), coalescing=True)
    world.publish("gap", "/consumers/g1/ids", gap=gap)


def lose_records(world: World) -> None:
    """Records of some changes are missing from the log."""
    before_seq, before_ms = world.seq, world.now_ms
    world.sight = "lost"
    _change(world, 4)
    world.sight = "watch"
    world.miss(before_seq, before_ms)


def contradict(world: World) -> None:
    """What a fault of a watcher might leave: a write or a whole life of a znode goes untold."""
    if not world.tree:
        return
    path = world.dice.choice(sorted(world.tree))
    znode = world.tree[path]
    if world.chance(0.3):
        znode.czxid = world.transact()
    znode.mzxid = max(znode.czxid, znode.mzxid)
    znode.version += world.dice.choice((0, 0, 3))
    op = world.dice.choice(_CLAIMS)
    world.tell(op, path, znode, znode.mzxid)


STEPS: tuple[tuple[Step, int], ...] = (
    (beat, 14),
    (look_again, 2),
    (miss_some, 4),
    (count_lives, 1),
    (lose_records, 2),
    (contradict, 2),
)
