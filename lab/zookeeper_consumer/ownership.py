"""One member's claims: ephemeral owner znodes, all of them or none."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from kazoo.exceptions import ConnectionLoss, NodeExistsError, NoNodeError

from lab.zookeeper_consumer import paths
from lab.zookeeper_consumer.assignors import TopicPartition
from lab.zookeeper_consumer.group import read_data
from lab.zookeeper_consumer.session import find_session_id
from lab.zookeeper_consumer.znodes import create_znode


class Ownership:
    """What this member holds in /consumers/[group]/owners, and under which session."""

    def __init__(self, group: str) -> None:
        """Holds nothing yet."""
        self.held: dict[TopicPartition, str] = {}
        self._group = group
        self._session_id: int | None = None

    def release(self, client: Any) -> None:
        """Delete every owner znode held, also those that will be claimed again."""
        if self._session_id != _require_session_id(client):
            # They ended with their session. What stands there now is somebody else's.
            self.held.clear()
        # All at once: the sooner a partition is free, the less often a joiner meets a conflict.
        pending = {one: client.delete_async(self._path(one)) for one in self.held}
        for one, answer in pending.items():
            with suppress(NoNodeError):
                answer.get()
            del self.held[one]

    def claim(self, client: Any, wanted: Mapping[TopicPartition, str]) -> dict[TopicPartition, str]:
        """Create the owner znodes; returns who refused. One refusal undoes those just made."""
        self._session_id = _require_session_id(client)
        refused = {}
        for one in order_claims(wanted):
            holder = self._create(client, one, wanted[one])
            if holder is None:
                self.held[one] = wanted[one]
            else:
                refused[one] = holder
        if refused:
            self.release(client)
        return refused

    def _create(self, client: Any, one: TopicPartition, thread_id: str) -> str | None:
        """Who holds it instead of us; empty when he let go in this moment."""
        path = self._path(one)
        try:
            create_znode(client, path, thread_id.encode(), ephemeral=True)
        except NodeExistsError:
            holder = (read_data(client, path) or b"").decode(errors="replace")
            # Our own value: a create whose answer was lost with the connection.
            return None if holder == thread_id else holder
        return None

    def _path(self, one: TopicPartition) -> str:
        topic, partition = one
        return f"{paths.owners_dir(self._group, topic)}/{partition}"


def _require_session_id(client: Any) -> int:
    session_id = find_session_id(client)
    if session_id is None:
        # Nobody can say yet whether the session lives, and its owner znodes with it.
        raise ConnectionLoss
    return session_id


def order_claims(wanted: Iterable[TopicPartition]) -> list[TopicPartition]:
    """An order like that of the original's hash map: arbitrary, the same each time."""
    return sorted(wanted, key=lambda one: zlib.crc32(f"{one[0]}-{one[1]}".encode()))
