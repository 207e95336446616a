"""One-shot watches that stay: armed again after each event, and after each lost connection.

kazoo runs the callback on a thread of its own, so that does nothing but hand the path on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import EventType


class Watches:
    """Which paths are watched, and the zxid of what was last seen there."""

    def __init__(self, wake: Callable[[str], None]) -> None:
        """`wake` is handed the path that has changed, on kazoo's thread."""
        self._wake = wake
        self._children: dict[str, int] = {}
        self._data: dict[str, int] = {}

    def watch_children(self, client: Any, path: str) -> bool:
        """Arm; returns whether children came or went since it was last armed."""
        before = self._children.get(path)
        self._children[path] = self._read_children(client, path)
        return before not in (None, self._children[path])

    def watch_data(self, client: Any, path: str) -> bool:
        """Arm; returns whether the data changed, or the znode came, since it was last armed."""
        before = self._data.get(path)
        stat = client.exists(path, watch=self._on_event)
        # A topic that goes is no reason to rebalance; one that comes back is.
        self._data[path] = (before or 0) if stat is None else stat.mzxid
        return before not in (None, self._data[path])

    def renew(self, client: Any, path: str) -> bool:
        """Arm again what was armed; returns whether there is something new."""
        changed = path in self._children and self.watch_children(client, path)
        return (path in self._data and self.watch_data(client, path)) or changed

    def renew_all(self, client: Any) -> list[str]:
        """After a lost connection: kazoo forgets its watches. Returns what changed meanwhile."""
        paths = list({**self._children, **self._data})
        return [path for path in paths if self.renew(client, path)]

    def _read_children(self, client: Any, path: str) -> int:
        try:
            _, stat = client.get_children(path, watch=self._on_event, include_data=True)
        except NoNodeError:
            client.exists(path, watch=self._on_event)
            return 0
        return int(stat.pzxid)

    def _on_event(self, event: Any) -> None:
        # NONE is kazoo's word for a lost connection.
        if event.type != EventType.NONE:
            self._wake(event.path)
