"""Writers of what 0.7 left behind: `[broker]-[partition]` znodes, bare registrations, text brokers.

For trees that were upgraded in place. Ephemeral znodes live as long as the client's session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kazoo.exceptions import NodeExistsError

from lab.zookeeper_consumer import paths
from lab.zookeeper_consumer.znodes import create_znode


def write_owner(
    client: Any, group: str, topic: str, broker_id: int, partition: int, *, thread_id: str
) -> None:
    """An owner of one partition of one broker."""
    path = f"{paths.owners_dir(group, topic)}/{broker_id}-{partition}"
    create_znode(client, path, thread_id.encode(), ephemeral=True)


def write_offset(
    client: Any, group: str, topic: str, broker_id: int, partition: int, *, position: int
) -> None:
    """A BYTE position in that broker's log."""
    path = f"{paths.offsets_dir(group, topic)}/{broker_id}-{partition}"
    data = str(position).encode()
    with suppress(NodeExistsError):
        create_znode(client, path, data)
        return
    client.set(path, data)


def register_static(
    client: Any, group: str, member_id: str, subscription: Mapping[str, int]
) -> None:
    """A member with its topics: JSON without version, pattern or timestamp."""
    entries = ", ".join(f"{json.dumps(topic)}: {count}" for topic, count in subscription.items())
    _register(client, group, member_id, f"{{ {entries} }}")


def register_wildcard(
    client: Any, group: str, member_id: str, regex: str, streams: int = 1, *, allow: bool = True
) -> None:
    """A member with a regex (0.7.1+): `*2*ord.*` for a white list, `!2!tmp.*` for a black list."""
    mark = "*" if allow else "!"
    _register(client, group, member_id, f"{mark}{streams}{mark}{regex}")


def register_broker(client: Any, broker_id: int, host: str, port: int, start_ms: int) -> None:
    """A broker as text of three fields: creatorId:host:port."""
    data = f"{host}-{start_ms}:{host}:{port}".encode()
    create_znode(client, f"{paths.BROKER_IDS}/{broker_id}", data, ephemeral=True)


def register_topic(client: Any, broker_id: int, topic: str, partitions: int) -> None:
    """How many partitions of a topic one broker holds."""
    path = f"{paths.topic_path(topic)}/{broker_id}"
    create_znode(client, path, str(partitions).encode(), ephemeral=True)


def _register(client: Any, group: str, member_id: str, text: str) -> None:
    create_znode(client, f"{paths.ids_dir(group)}/{member_id}", text.encode(), ephemeral=True)
