"""The rows of `controller` of one cluster, and which epoch goes with each.

Since 2.1 both znodes are written in one transaction, /controller first; up to 2.0 the epoch came
after it on its own; a KRaft controller that takes over writes the epoch first. So a term takes the
epoch of its own transaction, or else the next one that is written; one of an earlier transaction
stays only until then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from streaming.fold.life import Moment, is_touch
from streaming.fold.payload import read_payload
from streaming.fold.row import Row, open_row
from zklake.events.envelope import Event, Stat
from zklake.events.payloads.controller import ControllerEpoch

SEEN = ("create", "set", "read", "unreadable")
# What a row without a controller does not have.
_EMPTY = (
    *("controller_id", "controller_epoch", "kraft_controller_epoch", "registered_at", "session"),
    *("czxid", "znode_version", "fidelity", "decode_error"),
)


class ControllerState(msgspec.Struct):
    """What the open row's columns do not say; it travels in fold_state."""

    # Whether /controller exists.
    stands: bool = False
    epoch: int | None = None
    epoch_zxid: int | None = None
    epoch_seen_seq: int = -1
    # The write of the epoch that the open row carries, and whether it keeps it.
    row_epoch_zxid: int | None = None
    is_sealed: bool = False


@dataclass
class Line:
    """One cluster's rows in a row; the last of them is open."""

    cluster: str
    rows: list[Row] = field(default_factory=list)
    memory: ControllerState = field(default_factory=ControllerState)


def open_without(line: Line, moment: Moment, *, is_known: bool) -> None:
    """There is no controller, or it is not known yet who it is."""
    row = open_row(
        line.cluster,
        moment.seq,
        moment.zxid,
        moment.at_ms,
        **dict.fromkeys(_EMPTY),
        is_known=is_known,
        unseen_versions=0,
    )
    line.rows.append(row)
    line.memory.stands = False
    carry_epoch(line, row)


def carry_epoch(line: Line, row: Row) -> None:
    """A row begins with the epoch that was seen last."""
    memory = line.memory
    row["controller_epoch"] = memory.epoch
    memory.row_epoch_zxid = memory.epoch_zxid
    zxids = (memory.epoch_zxid, row["czxid"])
    memory.is_sealed = None not in zxids and zxids[0] >= zxids[1]


def take_epoch(line: Line, event: Event) -> None:
    """An event of /controller_epoch."""
    memory, stat = line.memory, event.stat or Stat()
    if event.op == "delete":
        memory.epoch = memory.epoch_zxid = None
        return
    if event.op not in SEEN:
        return
    memory.epoch_seen_seq = event.seq
    if is_touch(event):
        return
    if not line.rows:
        moment = Moment(event.seq, event.zxid, event.observed_at_ms)
        open_without(line, moment, is_known=False)
    payload, _ = read_payload(event)
    if isinstance(payload, ControllerEpoch):
        memory.epoch = payload.controller_epoch
        memory.epoch_zxid = event.zxid if stat.mzxid is None else stat.mzxid
        _offer_epoch(line)


def _offer_epoch(line: Line) -> None:
    memory, row = line.memory, line.rows[-1]
    if not memory.stands:
        carry_epoch(line, row)
    elif not memory.is_sealed and memory.epoch_zxid != memory.row_epoch_zxid:
        row["controller_epoch"] = memory.epoch
        memory.row_epoch_zxid, memory.is_sealed = memory.epoch_zxid, True
