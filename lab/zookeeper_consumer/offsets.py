"""A group's offsets in ZooKeeper: the NEXT offset to read, written only where it has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from kazoo.exceptions import NodeExistsError, NoNodeError

from lab.zookeeper_consumer import paths
from lab.zookeeper_consumer.assignors import TopicPartition
from lab.zookeeper_consumer.group import read_data
from lab.zookeeper_consumer.znodes import create_znode
from zklake.events.payloads.consumer import decode_offset
from zklake.events.payloads.reading import Unreadable


class Offsets:
    """Remembers what this member last read or wrote: that alone decides what has changed."""

    def __init__(self, group: str) -> None:
        """Knows nothing yet."""
        self._group = group
        self._known: dict[TopicPartition, int] = {}

    def read(self, client: Any, wanted: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offsets that exist. No znode: the group has never committed."""
        found = {}
        for one in wanted:
            self._known.pop(one, None)
            offset = decode_offset(read_data(client, self._path(one)))
            if not isinstance(offset, Unreadable):
                found[one] = self._known[one] = offset.offset
        return found

    def commit(
        self, client: Any, positions: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Write what has changed since this member last looked; returns it.

        Nothing protects the znode: a former owner that comes late writes over the new one's.
        """
        changed = {one: at for one, at in positions.items() if self._known.get(one) != at}
        for one, offset in changed.items():
            self._write(client, self._path(one), str(offset).encode())
            self._known[one] = offset
        return changed

    def _write(self, client: Any, path: str, data: bytes) -> None:
        try:
            client.set(path, data)
        except NoNodeError:
            with suppress(NodeExistsError):
                create_znode(client, path, data)
                return
            client.set(path, data)

    def _path(self, one: TopicPartition) -> str:
        topic, partition = one
        return f"{paths.offsets_dir(self._group, topic)}/{partition}"
