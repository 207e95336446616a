"""An ideal watcher: publishes a known list of changes faultlessly, with gaps where it is told to.

It exists to try the accounting: what it publishes must be clean, and with one defect, not.
"""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

from tests.reference.tree import Change, split

Record = dict[str, Any]
# czxid, version, data
State = dict[str, tuple[int, int, bytes | None]]


class Ideal:
    """Walks the changes; `records` is what it published."""

    def __init__(self, changes: list[Change], *, has_zxid: bool = True) -> None:
        self.changes = changes
        self.has_zxid = has_zxid
        self.position = 0
        self.state: State = {}
        self.records: list[Record] = []

    def start(self, position: int, *, coalescing: bool = False) -> None:
        """First look, after so many changes."""
        gap = {"id": "f", "reason": "first_start", "coalescing": coalescing}
        self.publish("gap", "/", gap=gap)
        self.position = position
        self.state = fold_states(self.changes[:position])
        self.read_frame("none")

    def read_frame(self, base: str) -> None:
        """A read of every znode."""
        self.publish("frame_begin", "/", frame={"id": "f"})
        root = {"czxid": 0, "version": 0, "pzxid": self.changes[self.position - 1].zxid}
        self.publish("read", "/", origin="scan", stat=root)
        for path, (czxid, version, data) in sorted(self.state.items()):
            stat = {"czxid": czxid, "version": version}
            self.publish("read", path, origin="scan", stat=stat, **encode(data))
        self.publish("in_sync", "/", frame={"id": "f", "base": base})

    def watch(self, until: int) -> None:
        """Publish as watched, every value read in time."""
        for change in self.changes[self.position : until]:
            if change.op != "set_acl":
                self._publish_watched(change)
        self.state = fold_states(self.changes[:until])
        self.position = until

    def miss(self, until: int, *, seen_in_scan: int = 0) -> None:
        """A gap up to `until`; of the changes after it, some are watched before in_sync."""
        from_zxid = self.changes[self.position - 1].zxid
        gap = {"id": "g", "reason": "disconnected", "from_zxid": from_zxid}
        self.publish("gap", "/", gap=gap)
        unseen = self.changes[self.position : until]
        old, self.state = self.state, fold_states(self.changes[:until])
        self._infer(old)
        self._count_lives(old, unseen)
        self.position = until
        self.watch(until + seen_in_scan)
        self.publish("in_sync", "/", frame={"id": "g", "base": "model"})

    def look(self, until: int) -> None:
        """One-shot watches: what happened since the last look becomes one difference."""
        unseen = self.changes[self.position : until]
        old, self.state = self.state, fold_states(self.changes[:until])
        self._infer(old, origin="watch")
        self._count_lives(old, unseen)
        self.position = until

    def publish(self, op: str, path: str, **fields: Any) -> None:
        seq = 1000 + len(self.records)
        base = {"cluster": "c", "log_id": "l", "seq": seq, "observed_at_ms": seq}
        self.records.append({**base, "op": op, "path": path, **fields})

    def _publish_watched(self, change: Change) -> None:
        stat = {"czxid": change.czxid, "version": change.version}
        position = {"zxid": change.zxid} if self.has_zxid else {}
        if change.op == "delete":
            self.publish("delete", change.path, origin="watch", **position)
        else:
            data = encode(change.data)
            self.publish(change.op, change.path, origin="watch", stat=stat, **position, **data)

    def _infer(self, old: State, origin: str = "resync") -> None:
        gone = [p for p in old if p not in self.state or self.state[p][0] != old[p][0]]
        for path in sorted(gone, reverse=True):
            self.publish("delete", path, origin=origin)
        for path, (czxid, version, data) in sorted(self.state.items()):
            stat, value = {"czxid": czxid, "version": version}, encode(data)
            if path not in old or path in gone:
                self.publish("create", path, origin=origin, stat=stat, missed=version, **value)
            elif version != old[path][1]:
                missed = version - old[path][1] - 1
                self.publish("set", path, origin=origin, stat=stat, missed=missed, **value)

    def _count_lives(self, old: State, unseen: list[Change]) -> None:
        """Creates under a parent that lives, less those inferred: what its cversion tells."""
        born = {change.path: change.czxid for change in unseen if change.op == "create"}
        creates: Counter[str] = Counter()
        for change in unseen:
            parent = split(change.path)[0]
            if change.op == "create" and change.zxid >= self.state.get(parent, (0,))[0]:
                creates[parent] += 1
        for path in born:
            if path in self.state and self.state[path][0] != old.get(path, (0,))[0]:
                creates[split(path)[0]] -= 1
        for parent, lives in sorted(creates.items()):
            if lives and (parent == "/" or parent in self.state):
                self.publish("gap", parent, gap={"id": "g", "reason": "restart", "lives": lives})


def fold_states(changes: list[Change]) -> State:
    """What is there after these changes."""
    state: State = {}
    for change in changes:
        if change.op == "delete":
            del state[change.path]
        elif change.op != "set_acl":
            state[change.path] = (change.czxid, change.version, change.data)
    return state


def encode(data: bytes | None) -> Record:
    """As the contract says: text where it is UTF-8, else base64."""
    try:
        return {} if data is None else {"data": data.decode()}
    except UnicodeDecodeError:
        return {"data_b64": base64.b64encode(data or b"").decode()}
