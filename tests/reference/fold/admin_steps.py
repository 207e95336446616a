"""What operators ask of the controller, how replicas move, and how configs and offsets change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference.fold.broker_steps import sample_of
from tests.reference.fold.topic_steps import TOPICS, Step, dump
from tests.reference.fold.world import World
from zklake.events.kinds import KIND_BY_NAME
from zklake.events.payloads.topic import Topic

# Few, so that what is asked and what moves often agree.
_TARGETS = ([4, 5], [5, 4], [1, 4])
_PATHS = {
    "cluster_id": "/cluster/id",
    "feature": "/feature",
    "migration": "/migration",
    "producer_id_block": "/latest_producer_id_block",
    "broker_seqid": "/brokers/seqid",
    "acl": "/kafka-acl/Topic/orders",
    "prefixed_acl": "/kafka-acl-extended/prefixed/Group/g",
    "delegation_token": "/delegation_token/tokens/~0123456789abcdef",
}
_ENTITIES = (
    ("topic_config", "/config/topics/orders"),
    ("topic_config", "/config/topics/größe"),
    ("client_config", "/config/clients/<default>"),
    ("client_config", "/config/clients/a%20b"),
    ("user_config", "/config/users/al%2Fice"),
    ("user_config", "/config/users/%ff"),
    ("user_client_config", "/config/users/al%2Fice/clients/c%2A1"),
    ("broker_config", "/config/brokers/1"),
    ("ip_config", "/config/ips/10.0.0.1"),
)
_CONFIG = {
    "retention.ms": ("1", "2", "3"),
    "cleanup.policy": ("compact", "[redacted]"),
    "SCRAM-SHA-256": ("secret-1", "secret-2"),
    "x.password": ("secret-1", "secret-2"),
}


def new_path(world: World, kind: str) -> str:
    """Where a znode of these kinds may stand."""
    if kind in _PATHS:
        return _PATHS[kind]
    if kind == "offset":
        return _offset_path(world)
    return world.dice.choice([path for one, path in _ENTITIES if one == kind])


def ask(world: World) -> None:
    """Something under /admin: asked for, shrunk or withdrawn; or done."""
    kind, path = world.dice.choice(
        (
            ("reassignment", "/admin/reassign_partitions"),
            ("reassignment", "/admin/reassign_partitions"),
            ("preferred_election", "/admin/preferred_replica_election"),
            ("topic_deletion", f"/admin/delete_topics/{world.dice.choice(TOPICS)}"),
        )
    )
    wanted: list[dict[str, Any]] = [
        {"topic": world.dice.choice(TOPICS), "partition": world.dice.randrange(3)}
        | ({"replicas": world.dice.choice(_TARGETS)} if kind == "reassignment" else {})
        for _ in range(world.dice.randrange(4))
    ]
    data = None if kind == "topic_deletion" else dump({"version": 1, "partitions": wanted})
    if path not in world.tree:
        world.create(kind, path, data)
    elif world.chance(0.4):
        world.write(path, data or b"")
    else:
        world.delete(path)


def move(world: World) -> None:
    """Replicas of some partitions begin to move, or now shall go elsewhere."""
    for path, topic in _pick_assignment(world):
        for partition, replicas in topic["partitions"].items():
            if world.chance(0.6):
                target = world.dice.choice(_TARGETS)
                added = topic["adding_replicas"].get(partition, [])
                was = [replica for replica in replicas if replica not in added]
                goes = [replica for replica in was if replica not in target]
                topic["partitions"][partition] = [*target, *goes]
                topic["adding_replicas"][partition] = [r for r in target if r not in was]
                topic["removing_replicas"][partition] = goes
        world.write(path, dump(topic))


def arrive(world: World) -> None:
    """What moves is there, or was called off."""
    for path, topic in _pick_assignment(world):
        gone = world.dice.choice(("removing_replicas", "removing_replicas", "adding_replicas"))
        for partition, replicas in topic["partitions"].items():
            if world.chance(0.9):
                left = [r for r in replicas if r not in topic[gone].get(partition, [])]
                topic["partitions"][partition] = left if world.chance(0.8) else left[::-1]
                topic["adding_replicas"].pop(partition, None)
                topic["removing_replicas"].pop(partition, None)
        world.write(path, dump(topic))


def _pick_assignment(world: World) -> list[tuple[str, dict[str, Any]]]:
    """A topic whose value is an assignment of 2.4+; if there is none, nothing."""
    found = []
    for path in world.paths("topic"):
        topic = KIND_BY_NAME["topic"].decode(world.tree[path].data)
        if isinstance(topic, Topic) and topic.version > 1:
            found.append((path, topic))
    return [
        (path, _write_out(topic)) for path, topic in world.dice.sample(found, min(1, len(found)))
    ]


def _write_out(topic: Topic) -> dict[str, Any]:
    names = ("partitions", "adding_replicas", "removing_replicas")
    maps = {name: getattr(topic, name) for name in names}
    told = {name: {str(p): list(of_one) for p, of_one in one.items()} for name, one in maps.items()}
    return {"version": topic.version, **told}


def configure(world: World) -> None:
    """Overrides set, changed, removed or written again; or the entity goes."""
    kind, path = _prefer_standing(world, _ENTITIES)
    chosen = {
        key: world.dice.choice(values) for key, values in _CONFIG.items() if world.chance(0.5)
    }
    data: bytes | None = dump({"version": 1, "config": chosen})
    if kind.startswith("user") and world.chance(0.15):
        data = world.dice.choice((None, b""))
    if path not in world.tree:
        world.create(kind, path, data)
    elif world.chance(0.25):
        world.delete(path)
    else:
        world.write(path, world.tree[path].data if world.chance(0.15) else data)


def commit(world: World) -> None:
    """Offsets go up, now and then down, and rarely away."""
    _, path = _prefer_standing(world, [("offset", _offset_path(world))])
    data = b"%d" % world.dice.randrange(10 ** world.dice.randrange(1, 17))
    if path not in world.tree:
        world.create("offset", path, data)
    elif world.chance(0.2):
        world.delete(path)
    else:
        world.write(path, data)


def _offset_path(world: World) -> str:
    group, topic = world.dice.choice(("g1", "my_group-2")), world.dice.choice(TOPICS[:2])
    partition = world.dice.choice(("0", "1", "1-0", "4294967296"))
    return f"/consumers/{group}/offsets/{topic}/{partition}"


def write_single(world: World) -> None:
    """One of the znodes that speak of the whole cluster, or rights, or a token."""
    kind, path = _prefer_standing(world, list(_PATHS.items()))
    data = sample_of(world, kind)
    if path not in world.tree:
        world.create(kind, path, data)
    elif world.chance(0.3):
        world.delete(path)
    elif kind == "migration":
        _migrate(world, path)
    else:
        world.write(path, data)


def _migrate(world: World, path: str) -> None:
    """A KRaft controller copies, most of the time the same one, and says so again and again."""
    for _ in range(world.dice.randrange(1, 5)):
        epoch = 2 + world.chance(0.1)
        says = {"version": 0, "kraft_controller_id": 3000, "kraft_controller_epoch": epoch}
        offset = {"kraft_metadata_offset": world.dice.randrange(-1, 9), "kraft_metadata_epoch": 1}
        world.write(path, dump(says | offset))


def _prefer_standing(world: World, places: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Kind and path of a znode that is there, mostly: more happens to fewer of them."""
    kinds = {kind for kind, _ in places}
    standing = world.paths(*kinds)
    if standing and world.chance(0.7):
        path = world.dice.choice(standing)
        return world.tree[path].kind, path
    return world.dice.choice(places)


STEPS: tuple[tuple[Step, int], ...] = (
    (ask, 4),
    (move, 4),
    (arrive, 3),
    (configure, 7),
    (commit, 4),
    (write_single, 4),
)
