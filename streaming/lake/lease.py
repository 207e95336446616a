"""The lease file: makes the refusal of a second stream on one lake friendly.

It guards nothing: two streams that both believe to hold it meet in Delta's conflict check. No two
clocks are compared: whether a holder lives is judged by watching its file change.
"""

from __future__ import annotations

import functools
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from zklake.errors import LakeError

FILE_NAME = "_zklake_stream.lease"
STALE_S = 30.0
_POLL_S = 0.25
# Leases that this very process holds: its pid says nothing about them.
_ours: set[str] = set()


class LeaseHeld(LakeError):
    """Another one holds the lease, and lives."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """What the file says."""

    host: str
    pid: int
    started_at: str
    renewed_at: str
    # Which kernel and pid namespace the pid belongs to; nothing where it is not known.
    machine: str = ""
    id: str = ""


class Lease:
    """One cluster's lease, renewed by a thread while held."""

    def __init__(self, lake: str, cluster: str, stale_s: float = STALE_S) -> None:
        self.lake = f"{lake.rstrip('/')}/{cluster}"
        # An object store has no cheap create-if-absent that every one of them honours.
        self.is_possible = "://" not in lake
        self._path = Path(self.lake) / FILE_NAME
        self._stale_s = stale_s
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._id, self._started_at = uuid.uuid4().hex, _now()

    @property
    def is_held(self) -> bool:
        """Whether it was acquired, and neither released nor lost."""
        return self._id in _ours

    def acquire(self, stop: threading.Event, *, take_over: bool, on_lost: OnLost) -> None:
        """Take the lease, or say who has it; may watch a silent holder for some time first."""
        if self.is_held or not self.is_possible:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not take_over:
            self._await_silence(stop)
        if stop.is_set():
            return
        self._write()
        _ours.add(self._id)
        self._end.clear()
        self._thread = threading.Thread(
            target=self._renew, args=(on_lost,), name=f"lease {self.lake}", daemon=True
        )
        self._thread.start()

    def release(self) -> None:
        """Give it back, if it is still ours."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        if self.is_held:
            _ours.discard(self._id)
            holder = _read(self._path)
            if holder is not None and holder.id == self._id:
                self._path.unlink(missing_ok=True)

    def _await_silence(self, stop: threading.Event) -> None:
        first = _read(self._path)
        if first is None or _is_dead(first):
            return
        deadline = time.monotonic() + self._stale_s
        while time.monotonic() < deadline and not stop.is_set():
            holder = _read(self._path)
            if holder is None:
                return
            if holder != first:
                raise LeaseHeld(
                    f"the lake {self.lake} is being written by another `zklake stream`: process "
                    f"{holder.pid} on {holder.host}, since {holder.started_at}. Stop that one "
                    "first; if it is not what it seems, `zklake stream --take-over`"
                )
            stop.wait(_POLL_S)

    def _renew(self, on_lost: OnLost) -> None:
        while not self._end.wait(self._stale_s / 6):
            try:
                holder = _read(self._path)
                if holder is not None and holder.id != self._id:
                    _ours.discard(self._id)
                    on_lost(self._explain_loss(holder))
                    return
                self._write()
            except OSError:
                # A lake that cannot be written is found by the batches.
                continue

    def _explain_loss(self, holder: Holder) -> LakeError:
        return LakeError(
            f"the lake {self.lake} was taken over by another `zklake stream`: process "
            f"{holder.pid} on {holder.host}, since {holder.started_at}"
        )

    def _write(self) -> None:
        holder = Holder(
            host=socket.gethostname(),
            pid=os.getpid(),
            started_at=self._started_at,
            renewed_at=_now(),
            machine=_find_machine(),
            id=self._id,
        )
        draft = self._path.with_name(f"{FILE_NAME}.{self._id}")
        try:
            draft.write_bytes(msgspec.json.encode(holder))
            draft.replace(self._path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise


OnLost = Callable[[LakeError], None]


@contextmanager
def hold_lease(lake: str, cluster: str, *, take_over: bool = False) -> Iterator[threading.Event]:
    """Hold the lease while something that ends by itself writes; the event says it was lost."""
    lease, lost, reasons = Lease(lake, cluster), threading.Event(), list[LakeError]()

    def give_way(reason: LakeError) -> None:
        reasons.append(reason)
        lost.set()

    lease.acquire(lost, take_over=take_over, on_lost=give_way)
    try:
        yield lost
    finally:
        lease.release()
    if reasons:
        raise reasons[0]


def _read(path: Path) -> Holder | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _is_dead(holder: Holder) -> bool:
    """Certain only on the same machine; elsewhere its silence must decide."""
    if not holder.machine or holder.machine != _find_machine():
        return False
    if holder.pid == os.getpid():
        return holder.id not in _ours
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@functools.cache
def _find_machine() -> str:
    """A pid means something only within one boot of one kernel and one pid namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
