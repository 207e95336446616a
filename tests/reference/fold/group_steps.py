"""What ZooKeeper consumers do to the tree, how sessions end, and what nobody ought to write."""

from __future__ import annotations

from tests.reference.fold import sample_steps
from tests.reference.fold.admin_steps import new_path
from tests.reference.fold.broker_steps import sample_of
from tests.reference.fold.hostile import HOSTILE
from tests.reference.fold.topic_steps import BROKERS, TOPICS, Step, dump
from tests.reference.fold.world import World

_GROUPS = ("g1", "my_group-2")
_PARTITIONS = ("0", "1", "2", "1-0", "7-2147483648", "4294967296")
_EPHEMERAL = ("broker", "consumer", "owner", "topic_broker", "controller")


def join_group(world: World) -> None:
    """A member registers, and mostly claims something at once."""
    group = world.dice.choice(_GROUPS)
    start = 1_794_793_318_729 + world.dice.randrange(2)
    member = world.dice.choice((f"{group}_vm-a-{start}-6a094f91", f"{group}_chosen", "stranger"))
    session = world.open_session()
    path = f"/consumers/{group}/ids/{member}"
    if path in world.tree:
        return
    world.create("consumer", path, _consumer_data(world), session)
    for _ in range(world.dice.randrange(3)):
        _claim(world, group, member, session)


def _consumer_data(world: World) -> bytes | None:
    if world.chance(0.5):
        return sample_of(world, "consumer")
    subscription = {topic: world.dice.randrange(1, 4) for topic in TOPICS[:2]}
    value = {"version": 1, "subscription": subscription, "pattern": "static"}
    return dump(value | {"timestamp": str(world.now_ms)})


def _claim(world: World, group: str, member: str, session: int) -> None:
    topic, partition = world.dice.choice(TOPICS), world.dice.choice(_PARTITIONS)
    path = f"/consumers/{group}/owners/{topic}/{partition}"
    thread = world.dice.choice((f"{member}-0", f"{member}-1", member))
    world.create("owner", path, thread.encode(), session)


def claim(world: World) -> None:
    """A live member takes one more partition."""
    if paths := world.paths("consumer"):
        path = world.dice.choice(paths)
        _, _, group, _, member = path.split("/")
        _claim(world, group, member, world.tree[path].owner)


def rebalance(world: World) -> None:
    """A member releases all it owns and claims some of it again, with the same value."""
    if not (paths := world.paths("consumer")):
        return
    session = world.tree[world.dice.choice(paths)].owner
    owned = [path for path in world.ephemerals(session) if world.tree[path].kind == "owner"]
    values = {path: world.tree[path].data for path in owned}
    for path in owned:
        world.delete(path)
    world.pass_time(world.dice.choice((10, 60, 150)))
    for path in owned:
        if world.chance(0.7):
            world.create("owner", path, values[path], session)


def close_session(world: World) -> None:
    """One transaction removes all ephemerals; what comes between may break the run."""
    if not (paths := [path for path in world.paths(*_EPHEMERAL) if world.tree[path].owner]):
        return
    doomed = world.ephemerals(world.tree[world.dice.choice(paths)].owner)
    world.dice.shuffle(doomed)
    zxid = world.transact()
    for path in doomed:
        world.delete(path, zxid)
        if world.chance(0.15):
            _interrupt(world)


def _interrupt(world: World) -> None:
    if world.sight != "watch":
        return
    if world.chance(0.6):
        world.pass_time(world.dice.choice((0, 100, 499, 500, 900)))
        if world.chance(0.4):
            world.dice.choice((sample_steps.commit, sample_steps.end_round))(world)
        else:
            world.publish("heartbeat", "/")
    elif world.chance(0.5):
        world.miss(world.seq, world.now_ms)
    else:
        write_elsewhere(world)


def delete_one(world: World) -> None:
    """An ephemeral is deleted by its client; its session may live on."""
    if paths := world.paths(*_EPHEMERAL):
        world.delete(world.dice.choice(paths))


def write_elsewhere(world: World) -> None:
    """Signals and other kinds, which no table of these holds."""
    if world.sight == "blind":
        return
    number = world.dice.randrange(5)
    path = f"/isr_change_notification/isr_change_000000000{number}"
    if number == 0:
        world.publish("log_ends", None)
    elif number == 1:
        world.publish("unreadable", "/brokers/ids/1", "broker", fidelity="unreadable")
    elif number == 2:
        world.publish("set", "/consumers/g1/offsets/orders/0", "offset", data="12", origin="watch")
    else:
        world.publish("create", path, "isr_change", data="{}", origin="watch")
        world.publish("delete", path, "isr_change", origin="watch")


def write_nonsense(world: World) -> None:
    """A hostile value: on a znode that stands, or as a new one."""
    kind = world.dice.choice(tuple(HOSTILE))
    data = world.dice.choice(HOSTILE[kind])
    paths = world.paths(kind)
    if paths and world.chance(0.8):
        world.write(world.dice.choice(paths), data)
    else:
        world.create(kind, _new_path(world, kind), data, world.dice.choice((0, 0x77)))


def _new_path(world: World, kind: str) -> str:
    topic = f"/brokers/topics/{world.dice.choice(TOPICS)}"
    return {
        "broker": f"/brokers/ids/{world.dice.choice(BROKERS)}",
        "topic": topic,
        "topic_broker": f"{topic}/{world.dice.choice(BROKERS)}",
        "partition_state": f"{topic}/partitions/0/state",
        "consumer": "/consumers/g1/ids/g1_odd-1794793318729-0",
        "owner": f"/consumers/g1/owners/orders/{world.dice.choice(_PARTITIONS)}",
        "controller": "/controller",
        "controller_epoch": "/controller_epoch",
        "reassignment": "/admin/reassign_partitions",
        "preferred_election": "/admin/preferred_replica_election",
    }.get(kind) or new_path(world, kind)


STEPS: tuple[tuple[Step, int], ...] = (
    (join_group, 6),
    (claim, 4),
    (rebalance, 4),
    (close_session, 5),
    (delete_one, 2),
    (write_elsewhere, 3),
    (write_nonsense, 9),
)
