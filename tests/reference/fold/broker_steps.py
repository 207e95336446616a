"""What brokers and controllers do to the tree, as Kafka 0.7 to 3.9 do it."""

from __future__ import annotations

from tests.reference.fold.topic_steps import BEYOND_INT, BROKERS, Step, change_state, dump
from tests.reference.fold.world import World
from zklake.events.kinds import KIND_BY_NAME


def sample_of(world: World, kind: str) -> bytes | None:
    """A value as some release wrote it."""
    return world.dice.choice(KIND_BY_NAME[kind].samples).data


def broker_data(world: World) -> bytes | None:
    """A registration of a new release, or of any."""
    if world.chance(0.4):
        return sample_of(world, "broker")
    port = world.dice.choice((9092, 9093, -1))
    value = {
        "version": 5,
        "host": None if port < 0 else "k1.example",
        "port": port,
        "jmx_port": -1,
        "timestamp": str(world.now_ms),
        "rack": world.dice.choice(("az-a", "az-b")),
        "endpoints": [f"PLAINTEXT://k1.example:{port}"],
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
        "features": {},
    }
    return dump(value)


def register_broker(world: World) -> None:
    """2.2+ in one multi; before, and in odd cases, in one create."""
    name = world.dice.choice(BEYOND_INT if world.chance(0.05) else BROKERS)
    path = f"/brokers/ids/{name}"
    session = world.open_session()
    if path in world.tree:
        return
    if world.chance(0.6):
        zxid = world.transact()
        # Nobody's Kafka writes data in the first half; others may.
        first = None if world.chance(0.8) else world.dice.choice((broker_data(world), b"?"))
        world.create("broker", path, first, session, zxid)
        world.write(path, broker_data(world), zxid)
    else:
        world.create("broker", path, broker_data(world), session)
    if world.chance(0.3):
        _elect(world, session, int(name))


def change_broker(world: World) -> None:
    """Dynamic listeners: a set on the ephemeral."""
    if paths := world.paths("broker"):
        world.write(world.dice.choice(paths), broker_data(world))


def elect_controller(world: World) -> None:
    """By a live broker's session."""
    if paths := world.paths("broker"):
        path = world.dice.choice(paths)
        _elect(world, world.tree[path].owner, int(path.rsplit("/", 1)[1]) % 2**31)


def _elect(world: World, session: int, broker_id: int) -> None:
    if "/controller" in world.tree:
        return
    value = {"version": 1, "brokerid": broker_id, "timestamp": str(world.now_ms)}
    if world.chance(0.5):
        value |= {"version": 2, "kraftControllerEpoch": -1}
    zxid = world.transact()
    is_multi = world.chance(0.6)
    if world.chance(0.1):
        world.create("controller", "/controller", None, session, zxid)
        world.write("/controller", dump(value), zxid)
    else:
        world.create("controller", "/controller", dump(value), session, zxid)
    if is_multi:
        _raise_epoch(world, zxid)
        return
    # Up to 2.0 the epoch is a second step: others write in between, or it never comes.
    if world.chance(0.4):
        change_state(world)
    if world.chance(0.8):
        _raise_epoch(world, world.transact())


def _raise_epoch(world: World, zxid: int) -> None:
    znode = world.tree.get("/controller_epoch")
    if znode is None:
        world.create("controller_epoch", "/controller_epoch", b"1", 0, zxid)
        return
    data = znode.data or b""
    epoch = int(data) if data.isdigit() and len(data) < 9 else world.dice.randrange(50)
    world.write("/controller_epoch", b"%d" % (epoch + 1), zxid)


def resign(world: World) -> None:
    """/controller, or rarely its epoch, is deleted by hand or by a broker that steps down."""
    world.delete("/controller_epoch" if world.chance(0.35) else "/controller")


def migrate(world: World) -> None:
    """A KRaft controller takes over: one multi, a persistent znode, an id that is no broker's."""
    zxid = world.transact()
    _raise_epoch(world, zxid)
    world.delete("/controller", zxid)
    value = {"version": 2, "brokerid": 3000, "timestamp": str(world.now_ms)}
    value |= {"kraftControllerEpoch": world.dice.randrange(1, 9)}
    world.create("controller", "/controller", dump(value), 0, zxid)
    for path in world.paths("broker"):
        if world.chance(0.5):
            world.delete(path)


STEPS: tuple[tuple[Step, int], ...] = (
    (register_broker, 6),
    (change_broker, 3),
    (elect_controller, 4),
    (resign, 2),
    (migrate, 1),
)
