"""A ZooKeeper in memory with true watch semantics, for the simulator. Shares no product logic.

Events and replies stand on one stream in the order of the real server: an event of a change comes
before any reply that shows it. Only message shapes are the product's.
"""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass, field

from watcher.messages import (
    CHANGED,
    CHILD,
    CREATED,
    DELETED,
    NO_AUTH,
    NO_NODE,
    OK,
    Message,
    Reply,
    Request,
    WatchEvent,
    ZnodeStat,
)


@dataclass
class Node:
    data: bytes
    czxid: int
    owner: int = 0
    mzxid: int = 0
    pzxid: int = 0
    version: int = 0
    created: int = 0
    deleted: int = 0
    aversion: int = 0
    sealed: bool = False
    children: set[str] = field(default_factory=set)

    @property
    def cversion(self) -> int:
        return self.created + self.deleted

    def stat(self) -> ZnodeStat:
        return ZnodeStat(
            self.czxid, self.mzxid, 0, 0, self.version, self.cversion, self.aversion, self.owner,
            len(self.data), len(self.children), self.pzxid,
        )  # fmt: skip


Snapshot = tuple[int, dict[str, Node]]


@dataclass(frozen=True)
class Change:
    zxid: int
    op: str
    path: str
    czxid: int
    version: int
    data: bytes | None = None
    owner: int = 0
    session_close: bool = False


def parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


class FakeZooKeeper:
    def __init__(
        self,
        *,
        event_zxid: bool = True,
        recursive: bool = True,
        sealed: frozenset[str] = frozenset(),
    ) -> None:
        # Paths whose znodes are created with an ACL that shuts the watcher out.
        self.sealed = sealed
        self.nodes: dict[str, Node] = {"/": Node(b"", 0)}
        self.zxid = 0
        self.changes: list[Change] = []
        self.event_zxid = event_zxid
        self.recursive = recursive
        self.reset()

    def reset(self) -> None:
        """The client's connection is gone, with everything on it."""
        self.stream: deque[Message] = deque()
        self.asked: deque[Request] = deque()
        self.watching = False
        self.data_watches: set[str] = set()
        self.child_watches: set[str] = set()

    # Writers: each call is one transaction unless a zxid is given (multi, session close).

    def begin(self) -> int:
        self.zxid += 1
        return self.zxid

    def create(self, path: str, data: bytes, owner: int = 0, zxid: int | None = None) -> None:
        zxid = zxid or self.begin()
        self.nodes[path] = Node(data, zxid, owner, zxid, zxid, sealed=path in self.sealed)
        up = self.nodes[parent(path)]
        up.pzxid = zxid
        up.children.add(path.rpartition("/")[2])
        up.created += 1
        self.changes.append(Change(zxid, "create", path, zxid, 0, data, owner))
        self._fire(zxid, CREATED, path, self.nodes[path].sealed)

    def set(self, path: str, data: bytes, zxid: int | None = None) -> None:
        zxid = zxid or self.begin()
        node = self.nodes[path]
        node.data, node.mzxid, node.version = data, zxid, node.version + 1
        self.changes.append(Change(zxid, "set", path, node.czxid, node.version, data, node.owner))
        self._fire(zxid, CHANGED, path, node.sealed)

    def delete(self, path: str, zxid: int | None = None, *, closing: bool = False) -> None:
        zxid = zxid or self.begin()
        node = self.nodes.pop(path)
        up = self.nodes[parent(path)]
        up.children.discard(path.rpartition("/")[2])
        up.deleted += 1
        up.pzxid = zxid
        self.changes.append(
            Change(zxid, "delete", path, node.czxid, node.version, None, node.owner, closing)
        )
        self._fire(zxid, DELETED, path, node.sealed)

    def close_session(self, owner: int) -> None:
        zxid = self.begin()
        for path in [p for p, n in self.nodes.items() if n.owner == owner]:
            self.delete(path, zxid, closing=True)

    def set_acl(self, path: str) -> None:
        self.begin()
        self.nodes[path].aversion += 1

    def _fire(self, zxid: int, kind: int, path: str, hidden: bool) -> None:
        """`hidden`: patched servers (3.8.4, 3.9.2) keep events from who may not read the znode."""
        shown = zxid if self.event_zxid else -1
        if self.recursive:
            if self.watching and not hidden:
                self.stream.append(WatchEvent(shown, kind, path))
            return
        data = path in self.data_watches
        child = kind == DELETED and path in self.child_watches
        if (data or child) and not hidden:
            self.data_watches.discard(path)
            if kind == DELETED:
                self.child_watches.discard(path)
            self.stream.append(WatchEvent(shown, kind, path))
        if kind in (CREATED, DELETED):
            self._fire_child(shown, path)

    def _fire_child(self, shown: int, path: str) -> None:
        up = parent(path)
        if up in self.child_watches:
            self.child_watches.discard(up)
            self.stream.append(WatchEvent(shown, CHILD, up))

    def snapshot(self) -> Snapshot:
        return self.zxid, copy.deepcopy(self.nodes)

    def restore(self, snapshot: Snapshot) -> None:
        """The ensemble is rebuilt from an older state: zxids are used a second time."""
        self.zxid, nodes = snapshot
        self.nodes = copy.deepcopy(nodes)

    # The client's requests, answered in order.

    def answer(self) -> None:
        request = self.asked.popleft()
        self.stream.append(self._answer(request))

    def _answer(self, request: Request) -> Reply:
        op, path, zxid = request.op, request.path, self.zxid
        if op == "add_watch":
            self.watching = True
            return Reply(op, path, OK, zxid)
        if op == "sync":
            return Reply(op, path, OK, zxid)
        node = self.nodes.get(path)
        if node is None:
            return Reply(op, path, NO_NODE, zxid)
        if node.sealed:
            return Reply(op, path, NO_AUTH, zxid)
        if request.watch:
            (self.data_watches if op == "get" else self.child_watches).add(path)
        if op == "get":
            return Reply(op, path, OK, zxid, node.data, node.stat())
        return Reply(op, path, OK, zxid, None, node.stat(), sorted(node.children))
