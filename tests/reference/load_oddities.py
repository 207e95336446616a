"""The load's other habits: what ZooKeeper allows and a watcher must survive."""

from __future__ import annotations

from collections.abc import Callable

from kazoo.security import OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, make_digest_acl

from tests.reference.create_modes import create_container, create_ttl, has_failed
from tests.reference.load_session import Load

# jute.maxbuffer (0xfffff) less request header, path and ACL; the reply's stat must fit as well.
LARGEST = 0xFFFFF - 512
_SEALED_ACL = make_digest_acl("oracle", "sealed", all=True)


def write_multi(load: Load) -> None:
    path, brief = f"/multi/{load.name()}", f"/multi/{load.name()}"
    multi = load.client.transaction()
    multi.create(path, b"0")
    multi.set_data(path, b"1")
    multi.check(path, 1)
    multi.set_data(path, b"1")
    multi.create(brief, b"a")
    multi.delete(brief)
    multi.create(brief, b"a")
    has_failed(multi)
    load.did("multi")


def fail_multi(load: Load) -> None:
    multi = load.client.transaction()
    multi.create(f"/multi/{load.name()}", b"never")
    multi.set_data("/controller_epoch", b"never")
    multi.delete("/multi/missing")
    multi.create(f"/multi/{load.name()}", b"never")
    assert has_failed(multi)
    load.did("failed_multi")


def change_acl(load: Load) -> None:
    acl = load.dice.choice([OPEN_ACL_UNSAFE, READ_ACL_UNSAFE])
    load.client.set_acls("/config/topics", [*acl, *OPEN_ACL_UNSAFE])
    load.did("set_acl")


def widen(load: Load) -> None:
    names = [load.name() for _ in range(30)]
    for answer in [load.client.create_async(f"/wide/{name}", b"w") for name in names]:
        answer.get(30)
    gone = load.dice.sample(names, 15)
    for answer in [load.client.delete_async(f"/wide/{name}") for name in gone]:
        answer.get(30)
    load.did("create", len(names))
    load.did("delete", len(gone))


def deepen(load: Load) -> None:
    root = f"/deep/{load.name()}"
    load.client.create(root + "/a" * 12, b"deep", makepath=True)
    load.did("create", 13)
    if load.dice.random() < 0.7:
        load.client.delete(root, recursive=True)
        load.did("delete", 13)


def write_odd_values(load: Load) -> None:
    for value in (None, b"", bytes(range(256)), "{ü".encode(), b"\xff\xfe"):
        path = f"/myapp/{load.name()}"
        load.client.create(path, value)
        load.client.set(path, load.dice.choice([None, b"", b"x", value]))
        load.did("create")
        load.did("set")


def write_large(load: Load) -> None:
    path = f"/brokers/topics/large{load.dice.randrange(2)}"
    data = load.dice.randbytes(1024) * (LARGEST // 1024)
    if load.client.exists(path):
        load.client.set(path, data)
    else:
        load.client.create(path, data, makepath=True)
    load.did("large")


def write_container_and_ttl(load: Load) -> None:
    if not load.has_containers:
        return
    container = create_container(load.client, f"/container/{load.name()}", b"c")
    create_ttl(load.client, f"/ttl/{load.name()}", b"t", ttl_ms=load.dice.randrange(200, 2000))
    load.did("container")
    load.did("ttl")
    if load.dice.random() < 0.8:  # an emptied container is removed by the server itself
        load.client.create(f"{container}/child", b"")
        load.client.delete(f"{container}/child")
        load.did("create")
        load.did("delete")


def write_sealed(load: Load) -> None:
    """Nodes that a watcher without this digest may not read, from birth on."""
    if not load.seals:
        return
    path = f"/sealed/{load.name()}"
    load.sealed.add(path)
    load.client.add_auth("digest", "oracle:sealed")
    load.client.create(path, b"secret", acl=[_SEALED_ACL])
    load.client.set(path, b"secret too")
    load.did("sealed", 2)
    if load.dice.random() < 0.5:
        load.client.delete(path)
        load.did("sealed")


ODDITIES: tuple[Callable[[Load], None], ...] = (
    write_multi,
    fail_multi,
    change_acl,
    widen,
    deepen,
    write_odd_values,
    write_large,
    write_container_and_ttl,
    write_sealed,
)
