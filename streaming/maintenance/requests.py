"""How `zklake maintain` asks the stream that writes a lake: two small files beside its lease.

The request is taken by the stream between two batches; its answer grows step by step.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from zklake.errors import LakeError

if TYPE_CHECKING:
    from streaming.maintenance.upkeep import Outcome

REQUEST, ANSWER = "_zklake_maintain.request", "_zklake_maintain.answer"
# Long enough for a long batch; a stream that waits for Kafka or for its lake does not answer.
PATIENCE_S = 120.0
_POLL_S = 0.2


class MaintenanceRequest(msgspec.Struct, frozen=True):
    """Which tables to maintain now."""

    id: str
    tables: list[str]


class Line(msgspec.Struct, frozen=True):
    """One step that was done."""

    table: str
    action: str
    says: str
    seconds: float
    is_error: bool = False


class MaintenanceReply(msgspec.Struct):
    """What was done so far."""

    id: str
    lines: list[Line] = []
    is_finished: bool = False


class RequestInbox:
    """The stream's side. On an object store nobody can ask."""

    def __init__(self, lake: str, cluster: str) -> None:
        self._directory = None if "://" in lake else Path(lake) / cluster
        self._answer: MaintenanceReply | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._answer is not None

    def is_asked(self) -> bool:
        """Whether a request waits."""
        return self._directory is not None and (self._directory / REQUEST).exists()

    def take(self) -> MaintenanceRequest | None:
        """The request that waits, if any; it is answered from now on."""
        if self._directory is None:
            return None
        path = self._directory / REQUEST
        try:
            request = msgspec.json.decode(path.read_bytes(), type=MaintenanceRequest)
            path.unlink()
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            path.unlink(missing_ok=True)
            return None
        self._answer = MaintenanceReply(request.id)
        return request

    def reply(self, outcome: Outcome | None, *, is_last: bool) -> None:
        """Add a step to the answer."""
        assert self._answer is not None
        assert self._directory is not None
        if outcome is not None and (outcome.action != "look" or outcome.is_error):
            self._answer.lines.append(
                Line(
                    outcome.table,
                    outcome.action,
                    outcome.says,
                    outcome.seconds,
                    outcome.is_error,
                )
            )
        self._answer.is_finished = is_last
        _write(self._directory / ANSWER, self._answer)
        if is_last:
            self._answer = None


def ask(lake: str, cluster: str, tables: Sequence[str]) -> Iterator[Line]:
    """Ask the running stream; yields what it did, as it does it."""
    directory = Path(lake) / cluster
    request = MaintenanceRequest(uuid.uuid4().hex, list(tables))
    _write(directory / REQUEST, request)
    shown, deadline = 0, time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            answer = _read_answer(directory / ANSWER, request.id)
            if answer is not None and len(answer.lines) > shown:
                deadline = time.monotonic() + PATIENCE_S
                yield from answer.lines[shown:]
                shown = len(answer.lines)
            if answer is not None and answer.is_finished:
                (directory / ANSWER).unlink(missing_ok=True)
                return
            time.sleep(_POLL_S)
    finally:
        _take_back(directory / REQUEST, request.id)
    raise LakeError(
        f"the stream that writes the lake {directory} did not answer for {PATIENCE_S:.0f} s; its "
        "/readyz says what it waits for. The request was taken back"
    )


def _write(path: Path, what: MaintenanceRequest | MaintenanceReply) -> None:
    draft = path.with_name(f"{path.name}.{what.id}")
    draft.write_bytes(msgspec.json.encode(what))
    draft.replace(path)


def _read_answer(path: Path, request_id: str) -> MaintenanceReply | None:
    try:
        answer = msgspec.json.decode(path.read_bytes(), type=MaintenanceReply)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return answer if answer.id == request_id else None


def _take_back(path: Path, request_id: str) -> None:
    try:
        request = msgspec.json.decode(path.read_bytes(), type=MaintenanceRequest)
    except (FileNotFoundError, msgspec.DecodeError):
        return
    if request.id == request_id:
        path.unlink(missing_ok=True)
