"""Folds transactions into a tree, and says in order every change that applied.

It follows DataTree of the server: what a client's stat shows must come out of the log alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.reference.txnlog import CLOSE_SESSION, Op, Txn

# The server makes these itself, without a transaction.
BUILT_IN = ("/zookeeper", "/zookeeper/quota", "/zookeeper/config")


class Change(NamedTuple):
    """One applied operation. A delete carries the version and czxid of the life it ended."""

    zxid: int
    index_in_txn: int
    op: str  # create | set | delete | set_acl
    path: str
    data: bytes | None
    version: int
    czxid: int
    ephemeral_owner: int
    time_ms: int
    # Deletes of one closeSession have no fixed order among themselves.
    session_close: bool = False

    @property
    def json(self) -> Any:
        """The data, of a znode that holds JSON."""
        return json.loads(self.data or b"null")


@dataclass(slots=True)
class Znode:
    """One znode as a client's stat shows it, less times."""

    data: bytes | None = b""
    version: int = 0
    czxid: int = 0
    mzxid: int = 0
    pzxid: int = 0
    aversion: int = 0
    ephemeral_owner: int = 0
    # The server stores only the creates of children, and answers 2 × creates − children.
    child_creates: int = 0
    children: set[str] = field(default_factory=set)

    @property
    def cversion(self) -> int:
        """Creates + deletes of children, as a client reads it."""
        return 2 * self.child_creates - len(self.children)


class Tree:
    """The state after every transaction given to `apply` so far."""

    def __init__(self) -> None:
        self.znodes: dict[str, Znode] = {"/": Znode()}
        self.sessions: dict[int, set[str]] = {}
        for path in BUILT_IN:
            self._attach(path, Znode())

    def apply(self, txn: Txn) -> list[Change]:
        """The changes of one transaction, in apply order; an aborted multi has none."""
        if txn.type == CLOSE_SESSION:
            return self._close_session(txn)
        if txn.aborted:
            return []
        changes = []
        for index, op in enumerate(txn.ops):
            if op.kind not in ("check", "error"):
                changes.append(self._apply_op(txn, index, op))
        return changes

    def _apply_op(self, txn: Txn, index: int, op: Op) -> Change:
        if op.kind == "create":
            return self._create(txn, index, op)
        if op.kind == "delete":
            return self._delete(txn, index, op.path)
        znode = self.znodes[op.path]
        if op.kind == "set":
            znode.data, znode.version, znode.mzxid = op.data, op.version, txn.zxid
        else:
            znode.aversion = op.version
        return _change(txn, index, op.kind, op.path, znode)

    def _create(self, txn: Txn, index: int, op: Op) -> Change:
        owner = txn.session if op.ephemeral else 0
        znode = Znode(op.data, 0, txn.zxid, txn.zxid, txn.zxid, 0, owner)
        parent = self._attach(op.path, znode)
        creates = parent.child_creates + 1 if op.parent_cversion < 0 else op.parent_cversion
        parent.child_creates = max(parent.child_creates, creates)
        parent.pzxid = txn.zxid
        if op.ephemeral:
            self.sessions.setdefault(txn.session, set()).add(op.path)
        return _change(txn, index, "create", op.path, znode)

    def _delete(self, txn: Txn, index: int, path: str, close: bool = False) -> Change:
        znode = self.znodes.pop(path)
        parent_path, name = split(path)
        parent = self.znodes[parent_path]
        parent.children.discard(name)
        parent.pzxid = txn.zxid
        self.sessions.get(znode.ephemeral_owner, set()).discard(path)
        return _change(txn, index, "delete", path, znode)._replace(data=None, session_close=close)

    def _close_session(self, txn: Txn) -> list[Change]:
        owned = self.sessions.pop(txn.session, set())
        # What the leader listed, then what only the owners tell (3.4 lists nothing).
        paths = [path for path in txn.closed_paths if path in self.znodes]
        paths += sorted(owned.difference(paths))
        return [self._delete(txn, index, path, close=True) for index, path in enumerate(paths)]

    def _attach(self, path: str, znode: Znode) -> Znode:
        parent_path, name = split(path)
        parent = self.znodes[parent_path]
        parent.children.add(name)
        self.znodes[path] = znode
        return parent


def fold(txns: Iterable[Txn]) -> tuple[list[Change], Tree]:
    """Every change of the log, and the tree it leaves."""
    tree = Tree()
    changes = [change for txn in txns for change in tree.apply(txn)]
    return changes, tree


def restrict(changes: Iterable[Change], chroot: str) -> Iterator[Change]:
    """The changes at and under a chroot, with paths as a client in that chroot names them."""
    prefix = chroot.rstrip("/")
    for change in changes:
        if not prefix or change.path == prefix or change.path.startswith(prefix + "/"):
            yield change._replace(path=change.path[len(prefix) :] or "/")


def split(path: str) -> tuple[str, str]:
    """(parent, name)."""
    parent, _, name = path.rpartition("/")
    return parent or "/", name


def _change(txn: Txn, index: int, op: str, path: str, znode: Znode) -> Change:
    data = znode.data if op in ("create", "set") else None
    return Change(
        txn.zxid, index, op, path, data, znode.version, znode.czxid, znode.ephemeral_owner,
        txn.time_ms,
    )  # fmt: skip
