"""Published events as plain values, read with json's words only, and held against a change.

Must not import the product's envelope: a field that is misnamed on the wire has to show here.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.reference.tree import Change

CHANGE_OPS = ("create", "set", "delete")
WITHHELD = ("superseded", "redacted", "oversize", "unreadable")


class Published(NamedTuple):
    """One event of the log."""

    seq: int
    op: str
    path: str
    origin: str
    fidelity: str
    zxid: int | None
    zxid_min: int | None
    zxid_max: int | None
    data: bytes | None
    stat: Mapping[str, int]
    missed: int
    gap: Mapping[str, Any]
    frame: Mapping[str, Any]

    @property
    def version(self) -> int | None:
        return self.stat.get("version")

    @property
    def is_nameless(self) -> bool:
        """It was there; nobody can know since when, so it has neither czxid nor version."""
        is_unseen = self.op in ("create", "read") and self.fidelity == "superseded"
        return is_unseen and "czxid" not in self.stat and self.version is None

    @property
    def opens_gap(self) -> bool:
        """A gap without a count of lives: from here the watcher was blind."""
        return self.op == "gap" and "lives" not in self.gap

    def __str__(self) -> str:
        version = "" if self.version is None else f" v{self.version}"
        return f"seq {self.seq} {self.op} {self.path}{version} ({self.origin}, {self.fidelity})"


def parse(record: Mapping[str, Any]) -> Published:
    """One decoded JSON record."""
    return Published(
        seq=record["seq"],
        op=record["op"],
        path=record.get("path") or "/",
        origin=record.get("origin") or "",
        fidelity=record.get("fidelity", "exact"),
        zxid=record.get("zxid"),
        zxid_min=record.get("zxid_min"),
        zxid_max=record.get("zxid_max"),
        data=_read_data(record),
        stat=record.get("stat") or {},
        missed=record.get("missed") or 0,
        gap=record.get("gap") or {},
        frame=record.get("frame") or {},
    )


def tells(event: Published, change: Change) -> bool:
    """Whether the event can be this very change: every identifying field it carries agrees."""
    if (event.op, event.path) != (change.op, change.path):
        return False
    stat = event.stat
    if stat.get("version", change.version) != change.version:
        return False
    if stat.get("czxid", change.czxid) != change.czxid:
        return False
    return _agrees_in_zxid(event, change)


def find_fault(event: Published, change: Change) -> str | None:
    """What is wrong with the value or the stat of an event that tells this change's version."""
    if event.zxid is None and event.zxid_min is not None and event.zxid_min > change.zxid:
        return f"zxid_min is {event.zxid_min}, yet it happened at {change.zxid}"
    if event.op == "delete":
        return "a delete carries data" if event.data is not None else None
    if event.fidelity in WITHHELD:
        return f"{event.fidelity}, yet data is there" if event.data is not None else None
    if event.fidelity != "exact":
        return f"unknown fidelity {event.fidelity}"
    if (event.data or b"") != (change.data or b""):
        return "the data is not what was written"
    wanted = {"mzxid": change.zxid, "ephemeral_owner": change.ephemeral_owner}
    for name, value in wanted.items():
        if event.stat.get(name, value) != value:
            return f"stat.{name} is {event.stat[name]}, not {value}"
    if event.stat.get("data_length", len(change.data or b"")) != len(change.data or b""):
        return "stat.data_length is not the length of what was written"
    return None


def _agrees_in_zxid(event: Published, change: Change) -> bool:
    if event.zxid is not None:
        return event.zxid == change.zxid
    low = event.zxid_min if event.zxid_min is not None else change.zxid
    high = event.zxid_max if event.zxid_max is not None else change.zxid
    return low <= change.zxid <= high


def _read_data(record: Mapping[str, Any]) -> bytes | None:
    if (text := record.get("data")) is not None:
        return str(text).encode()
    if (coded := record.get("data_b64")) is not None:
        return base64.b64decode(coded, validate=True)
    if (packed := record.get("data_zlib_b64")) is not None:
        return zlib.decompress(base64.b64decode(packed, validate=True))
    return None
