"""The load's Kafka-like habits: brokers, partition states, owners, offsets, hot and brief nodes."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.create_modes import has_failed, null_create
from tests.reference.load_session import Load, close


def write_partition_states(load: Load) -> None:
    topic = f"/brokers/topics/t{load.dice.randrange(4)}"
    for partition in range(3):
        path = f"{topic}/partitions/{partition}/state"
        load.client.ensure_path(path)
        load.client.set(path, load.value())
        load.did("set")


def burst_hot_node(load: Load) -> None:
    sets = load.dice.randrange(20, 120)
    value = load.value()
    pending = []
    for number in range(sets):
        equal = load.dice.random() < 0.5
        data = value if equal else b"%d" % number
        pending.append(load.client.set_async("/controller_epoch", data))
    for answer in pending:
        answer.get(30)
    load.did("set", sets)


def register_broker(load: Load) -> None:
    """As Kafka 3.9 does: create with null data and set, in one multi; then the session goes."""
    path = f"/brokers/ids/{load.dice.randrange(5)}"
    session = load.open_session()
    multi = session.transaction()
    multi.operations.append(null_create(session, path, ephemeral=True))
    multi.set_data(path, load.value())
    load.did("multi" if not has_failed(multi) else "failed_multi")
    close(session)
    load.did("session_close")


def close_session_with_owners(load: Load) -> None:
    session = load.open_session()
    owners = load.dice.randrange(1, 40)
    base = f"/consumers/g{load.dice.randrange(3)}/owners/t0"
    load.client.ensure_path(base)
    for _ in range(owners):
        session.create(f"{base}/{load.name()}", b"g_host-1-0", ephemeral=True)
        load.did("ephemeral")
    if load.dice.random() < 0.5:
        session.delete(f"{base}/{next(iter(session.get_children(base)))}")
        load.did("delete")
    close(session)
    load.did("session_close")


def commit_offsets(load: Load) -> None:
    for partition in range(4):
        path = f"/consumers/g{load.dice.randrange(3)}/offsets/t0/{partition}"
        load.client.ensure_path(path)
        load.client.set(path, b"%d" % load.dice.randrange(10**6))
        load.did("set")


def recreate_with_equal_value(load: Load) -> None:
    path = "/admin/reassign_partitions"
    if load.client.exists(path):
        load.client.delete(path)
        load.did("delete")
    load.client.create(path, b'{"version":1,"partitions":[]}', makepath=True)
    load.did("create")


def write_sequential(load: Load) -> None:
    prefix = "/isr_change_notification/isr_change_"
    path = load.client.create(prefix, load.value(), sequence=True)
    load.did("create")
    if load.dice.random() < 0.7:
        load.client.delete(path)
        load.did("delete")


def flash(load: Load) -> None:
    """Lives too short to be read."""
    path = f"/controller_{load.dice.randrange(3)}"
    answers = []
    for _ in range(5):
        answers += [load.client.create_async(path, b"c"), load.client.set_async(path, b"d")]
        answers.append(load.client.delete_async(path))
    for answer in answers:
        answer.get(30)
    load.did("create", 5)
    load.did("set", 5)
    load.did("delete", 5)


KAFKA_HABITS: tuple[Callable[[Load], None], ...] = (
    write_partition_states,
    burst_hot_node,
    register_broker,
    close_session_with_owners,
    commit_offsets,
    recreate_with_equal_value,
    write_sequential,
    flash,
)
