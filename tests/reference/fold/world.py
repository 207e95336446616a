"""A small ZooKeeper and the watcher that looks at it: what happens, and what the log says of it.

Stats, zxids and sessions are consistent; how much of them reaches the log is up to the dice.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from random import Random
from typing import Any, Literal

import msgspec

from tests.reference.fold.brokers import Brokers
from zklake.events.envelope import Event, Fidelity, Gap, Op, Origin, Stat

# watch: everything is told; blind: nothing is (a gap); lost: told, but missing from the log.
Sight = Literal["watch", "blind", "lost"]
_START_MS = 1_794_787_200_000
# The policy masks what looks like this, and withholds these kinds whole unless they are opened.
_SECRET = re.compile(rb"secret-[0-9]")
_SEALED = ("acl", "prefixed_acl", "delegation_token")


class Znode(msgspec.Struct):
    """One life of a path."""

    kind: str
    data: bytes | None
    owner: int
    czxid: int
    ctime: int
    mzxid: int = 0
    mtime: int = 0
    version: int = 0
    # The log has a state of it without its value.
    unread: bool = False


class World:
    """The tree, what the watcher knows of it, and the log so far."""

    def __init__(self, dice: Random, cluster: str) -> None:
        self.dice = dice
        self.cluster = cluster
        self.events: list[Event] = []
        self.seq = dice.randrange(1000)
        self.now_ms = _START_MS + dice.randrange(86_400_000)
        self.zxid = 1 << 32
        self.last_session = 0x1000
        # Before 3.9 watch events have no zxid.
        self.has_zxid = self.chance(0.5)
        self.sight: Sight = "watch"
        self.tree: dict[str, Znode] = {}
        self.known: dict[str, Znode] = {}
        self.brokers = Brokers()

    def chance(self, probability: float) -> bool:
        """Roll the dice."""
        return self.dice.random() < probability

    def pass_time(self, ms: int) -> None:
        """The clock of all machines."""
        self.now_ms += ms

    def transact(self) -> int:
        """The zxid of a new transaction; others have taken some."""
        self.zxid += self.dice.choice((1, 1, 2, 5))
        return self.zxid

    def open_session(self) -> int:
        """A new client."""
        self.last_session += self.dice.randrange(1, 9)
        return self.last_session

    def paths(self, *kinds: str) -> list[str]:
        """All znodes of some kinds, sorted so that the seed alone decides."""
        return sorted(path for path, znode in self.tree.items() if znode.kind in kinds)

    def ephemerals(self, session: int) -> list[str]:
        """What goes when this session does."""
        return sorted(path for path, znode in self.tree.items() if znode.owner == session)

    # What happens in the tree.

    def create(
        self, kind: str, path: str, data: bytes | None, owner: int = 0, zxid: int | None = None
    ) -> None:
        """Create a znode; nothing if it is there."""
        if path in self.tree:
            return
        zxid = zxid or self.transact()
        at = self._server_ms()
        znode = Znode(kind, data, owner, zxid, at, zxid, at)
        self.tree[path] = znode
        self.tell("create", path, znode, zxid)

    def write(self, path: str, data: bytes | None, zxid: int | None = None) -> None:
        """Set a znode's data; nothing if it is gone."""
        znode = self.tree.get(path)
        if znode is None:
            return
        znode.mzxid = zxid or self.transact()
        znode.mtime = self._server_ms()
        znode.version += 1
        znode.data = data
        self.tell("set", path, znode, znode.mzxid)

    def delete(self, path: str, zxid: int | None = None) -> None:
        """Delete a znode; nothing if it is gone."""
        znode = self.tree.pop(path, None)
        if znode is not None:
            self.tell("delete", path, znode, zxid or self.transact())

    def _server_ms(self) -> int:
        """The server's clock is nearly ours, and now and then far from it."""
        skew = self.dice.choice((-1, 0, -3, 2))
        if self.chance(0.05):
            skew = self.dice.choice((-60_000, 45_000, -7_200_000))
        if self.chance(0.01):
            return self.dice.choice((-1, 253402300800000, 0, 2**62))
        return self.now_ms + skew

    # What the log says of it.

    def tell(
        self, op: Op, path: str, znode: Znode, zxid: int | None, origin: Origin = "watch"
    ) -> None:
        """Publish an event of a znode, as far as it is seen."""
        if self.sight == "blind":
            return
        if op == "delete":
            known = self.known.pop(path, znode)
            seen = zxid if origin == "watch" and self.has_zxid else None
            self.publish(op, path, znode.kind, zxid=seen, stat=_part(known), origin=origin)
            return
        fidelity = self._fidelity(op, znode)
        self.known[path] = msgspec.structs.replace(znode, unread=fidelity == "superseded")
        fields: dict[str, Any] = {"stat": _whole(znode), "zxid": zxid, "origin": origin}
        if fidelity == "superseded":
            fields["stat"] = None if self.chance(0.05) else self._part_told(op, znode)
            fields["zxid"] = zxid if self.has_zxid else None
        else:
            fields |= self._publish_data(znode, fidelity)
        if self.chance(0.02):
            fields["stat"] = None
        self.publish(op, path, znode.kind, fidelity=fidelity, **fields)

    def publish(self, op: Op, path: str | None, kind: str | None = None, **fields: Any) -> None:
        """Put a record into the log; sometimes a producer's retry puts it twice."""
        self.seq += 1
        if self.sight == "lost":
            return
        event = Event(
            cluster=self.cluster,
            log_id="log-1",
            seq=self.seq,
            op=op,
            observed_at_ms=self.now_ms,
            path=path,
            kind=kind,
            **fields,
        )
        self.events += [event] * (2 if self.chance(0.02) else 1)

    def miss(self, before_seq: int, before_ms: int) -> None:
        """The records since then are missing; the stream says so in the place of the last one."""
        self.seq += self.dice.randrange(1, 4)
        missed, self.seq = self.seq - before_seq, self.seq - 1
        gap = Gap(f"hole-{self.seq + 1}", "seq_hole", from_ms=before_ms)
        self.publish("seq_hole", None, gap=gap, missed=missed)

    def _publish_data(self, znode: Znode, fidelity: Fidelity) -> dict[str, str]:
        """As much of it as the policy lets out, and nearly always a hash of all."""
        data_hash = hashlib.blake2b(znode.data or b"", digest_size=8).hexdigest()
        fields = {} if self.chance(0.1) else {"data_hash": data_hash}
        is_part = fidelity == "redacted" and znode.data is not None
        masked = _SECRET.sub(b"[redacted]", znode.data) if znode.data else znode.data
        # Of redacted data a masked part may stay.
        if fidelity == "exact" or (is_part and (masked != znode.data or self.chance(0.3))):
            fields |= self._form(masked)
        return fields

    def _fidelity(self, op: Op, znode: Znode) -> Fidelity:
        if op == "create" and znode.data is None and self.chance(0.7):
            # The first half of a registration: the read that follows shows the second.
            return "superseded"
        roll = self.dice.random()
        if roll < 0.08:
            return "superseded"
        has_secret = znode.kind in _SEALED or _SECRET.search(znode.data or b"")
        if has_secret and self.chance(0.9):
            return "redacted"
        return self.dice.choice(("redacted", "oversize", "unreadable")) if roll < 0.11 else "exact"

    def _part_told(self, op: Op, znode: Znode) -> Stat:
        stat = _part(znode)
        if self.chance(0.2):
            # The connection broke before the read: nobody knows which life it was.
            return Stat(version=0 if op == "create" else None, ephemeral_owner=0)
        return stat

    def _form(self, data: bytes | None) -> dict[str, str]:
        if data is None:
            return {}
        if len(data) > 1000 or self.chance(0.03):
            return {"data_zlib_b64": base64.b64encode(zlib.compress(data)).decode()}
        try:
            return {"data": data.decode()}
        except UnicodeDecodeError:
            return {"data_b64": base64.b64encode(data).decode()}


def _whole(znode: Znode) -> Stat:
    return Stat(
        czxid=znode.czxid,
        mzxid=znode.mzxid,
        ctime=znode.ctime,
        mtime=znode.mtime,
        version=znode.version,
        ephemeral_owner=znode.owner,
        data_length=len(znode.data or b""),
    )


def _part(znode: Znode) -> Stat:
    """What a watcher vouches for without having read the znode."""
    return Stat(
        czxid=znode.czxid, mzxid=znode.mzxid, version=znode.version, ephemeral_owner=znode.owner
    )
