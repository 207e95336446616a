"""What kazoo's own methods do not offer: container and TTL nodes, null data inside a multi."""

from __future__ import annotations

import struct
from typing import Any

from kazoo.exceptions import KazooException
from kazoo.protocol.serialization import Create
from kazoo.security import OPEN_ACL_UNSAFE

_CONTAINER_FLAG, _TTL_FLAG, _EPHEMERAL_FLAG = 4, 5, 1


class CreateContainer(Create):  # type: ignore[misc]
    """Opcode 19; the reply begins with the path, as that of create."""

    type = 19


class CreateTtl(Create):  # type: ignore[misc]
    """Opcode 21: a create followed by the time to live, which the caller sets on the instance."""

    type = 21
    ttl_ms = 0

    def serialize(self) -> bytes:
        return bytes(super().serialize()) + struct.pack(">q", self.ttl_ms)


def create_container(client: Any, path: str, data: bytes) -> str:
    """Create a container node."""
    return _send(
        client, CreateContainer(client.chroot + path, data, OPEN_ACL_UNSAFE, _CONTAINER_FLAG), path
    )


def create_ttl(client: Any, path: str, data: bytes, *, ttl_ms: int) -> str:
    """Create a node that the server removes when it is childless and untouched for ttl_ms."""
    request = CreateTtl(client.chroot + path, data, OPEN_ACL_UNSAFE, _TTL_FLAG)
    request.ttl_ms = ttl_ms
    return _send(client, request, path)


def null_create(client: Any, path: str, *, ephemeral: bool) -> Create:
    """A create with null data, as part of a multi: Kafka registers brokers like this."""
    flags = _EPHEMERAL_FLAG if ephemeral else 0
    return Create(client.chroot + path, None, OPEN_ACL_UNSAFE, flags)


def has_failed(multi: Any) -> bool:
    """Commit; whether ZooKeeper refused it."""
    return any(isinstance(result, KazooException) for result in multi.commit())


def _send(client: Any, request: Any, path: str) -> str:
    answer = client.handler.async_result()
    client._call(request, answer)
    answer.get(30)
    return path
