"""What happens to topics and their partitions, as Kafka 0.7 to 3.9 do it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.reference.fold.world import World

Step = Callable[[World], None]

BROKERS = ("1", "2", "3", "07")
TOPICS = ("orders", "bills", "größe")
# No INT holds these: they are no key.
BEYOND_INT = ("2147483648", "99999999999999999999")


def dump(value: Any) -> bytes:
    """JSON, as Kafka writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def topic_data(world: World) -> bytes:
    """An assignment of one to three partitions."""
    ids = range(world.dice.randrange(1, 4))
    value: dict[str, Any] = {
        "version": world.dice.choice((1, 2, 3)),
        "partitions": {str(p): world.dice.sample((1, 2, 3), 2) for p in ids},
    }
    if value["version"] > 1:
        moves = {"0": [3]} if world.chance(0.3) else {}
        value |= {"adding_replicas": moves, "removing_replicas": {}}
    if value["version"] == 3 and world.chance(0.8):
        value["topic_id"] = "8-9gXqS3Q0mGkz1uV2m3Vw"
    return dump(value)


def create_topic(world: World) -> None:
    """The assignment, then the states; or 0.7's directory with a child per broker."""
    topic = world.dice.choice(TOPICS)
    path = f"/brokers/topics/{topic}"
    if world.chance(0.2):
        world.create("topic", path, world.dice.choice((None, b"")))
        session = world.open_session()
        world.create("topic_broker", f"{path}/{world.dice.choice(BROKERS)}", b"4", session)
        return
    world.create("topic", path, topic_data(world))
    for partition in world.dice.choice((("0",), ("0", "1"), ("0", BEYOND_INT[0]))):
        name = f"{path}/partitions/{partition}/state"
        world.create("partition_state", name, state_data(world))


def change_topic(world: World) -> None:
    """Partitions added, replicas moved."""
    if paths := world.paths("topic"):
        world.write(world.dice.choice(paths), topic_data(world))


def delete_topic(world: World) -> None:
    """Children first; sometimes it comes back at once."""
    if not (paths := world.paths("topic")):
        return
    path = world.dice.choice(paths)
    for child in [child for child in sorted(world.tree) if child.startswith(path + "/")]:
        world.delete(child)
    world.delete(path)
    if world.chance(0.4):
        world.create("topic", path, topic_data(world))


def state_data(world: World) -> bytes:
    """Leader and isr; the controller's epoch may go back."""
    isr = world.dice.sample((1, 2, 3), world.dice.randrange(1, 4))
    value = {
        "version": 1,
        "leader": world.dice.choice((*isr, -1)),
        "leader_epoch": world.dice.randrange(20),
        "controller_epoch": world.dice.randrange(9),
        "isr": isr,
    }
    return dump(value | ({"leader_recovery_state": 1} if world.chance(0.1) else {}))


def change_state(world: World) -> None:
    """A new leader or isr, once or a few times in a row."""
    if paths := world.paths("partition_state"):
        path = world.dice.choice(paths)
        for _ in range(world.dice.choice((1, 1, 3))):
            world.write(path, state_data(world))


STEPS: tuple[tuple[Step, int], ...] = (
    (create_topic, 5),
    (change_topic, 4),
    (delete_topic, 2),
    (change_state, 8),
)
