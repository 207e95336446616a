"""Whether what is shown is true still: how old the lake is, and whether its makers are up.

It asks the watcher and the stream at their health addresses, if they are set.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from datetime import UTC, datetime
from typing import Literal, get_args

import msgspec

from dashboard.openapi.shapes import Instant
from dashboard.options import Options
from delta_tables.live.freshness import read_sampled_at, read_watermark
from delta_tables.live.tables import Tables
from zklake.times import write_time

State = Literal["up", "not ready", "down"]
_STATES: tuple[State, ...] = get_args(State)
_HAS_BEEN = {"down": "has been down", "not ready": "has not been ready"}
_TIMEOUT_S = 1.0
_LONGEST_ANSWER = 500


class ProcessHealth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The watcher or the stream, as it last answered."""

    name: str
    address: str
    state: State
    says: str
    since: Instant


class Pulse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fresh the lake is at one moment."""

    watermark_at: Instant | None
    sampled_at: Instant | None
    is_stale: bool
    parts: tuple[ProcessHealth, ...]
    # What is wrong, each a sentence; none: all is well.
    complaints: tuple[str, ...]


class PulseTaker:
    """Takes the pulse, at most once in a while."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._parts: dict[str, ProcessHealth] = {}
        self._asked_at = float("-inf")

    def take(self, tables: Tables) -> Pulse:
        """How it is now, by these tables."""
        now = datetime.now(UTC)
        parts = self._ask_parts(now.replace(microsecond=0))
        watermark, sampled = read_watermark(tables), read_sampled_at(tables)
        age = (now - watermark).total_seconds() if watermark else None
        is_stale = age is not None and age > self._options.stale_after_s
        complaints = [*_complain_lake(watermark, is_stale=is_stale), *_complain_parts(parts)]
        return Pulse(watermark, sampled, is_stale, parts, tuple(complaints))

    def _ask_parts(self, now: datetime) -> tuple[ProcessHealth, ...]:
        options = self._options
        addresses = {"watcher": options.watcher_http, "stream": options.stream_http}
        # A part that hangs keeps one waiting, not all.
        if self._lock.acquire(blocking=self._asked_at < 0):
            try:
                if time.monotonic() - self._asked_at >= min(1.0, options.refresh_s):
                    for name, address in addresses.items():
                        if address:
                            self._parts[name] = _ask(name, address, self._parts.get(name), now)
                    self._asked_at = time.monotonic()
            finally:
                self._lock.release()
        return tuple(self._parts.values())


def _ask(name: str, address: str, before: ProcessHealth | None, now: datetime) -> ProcessHealth:
    state, says = _get(address)
    is_same = before is not None and before.state == state
    return ProcessHealth(name, address, state, says, before.since if before and is_same else now)


def _get(address: str) -> tuple[State, str]:
    """Several may answer to one name: it is enough that one is ready, for the others stand by."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except OSError:
        return "down", "its host name cannot be resolved"
    answers = []
    for place in dict.fromkeys(one[4][:2] for one in found):
        answers.append(_get_from(str(place[0]), int(place[1])))
        if answers[-1][0] == "up":
            break
    return min(answers, key=lambda answer: _STATES.index(answer[0]))


def _get_from(host: str, port: int) -> tuple[State, str]:
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        text = answer.read(_LONGEST_ANSWER).decode(errors="replace").strip()
        return ("up", "") if answer.status == 200 else ("not ready", text)
    except (OSError, http.client.HTTPException):
        return "down", "it does not answer"
    finally:
        connection.close()


def _complain_lake(at: datetime | None, *, is_stale: bool) -> list[str]:
    if at is None:
        return ["The lake has no data yet: start `zklake watch` and `zklake stream`."]
    return [f"The lake is stale: its last event was at {write_time(at)}."] if is_stale else []


def _complain_parts(parts: tuple[ProcessHealth, ...]) -> list[str]:
    return [
        f"The {part.name} {_HAS_BEEN[part.state]} since {write_time(part.since)}"
        + (f": {part.says}." if part.says else ".")
        for part in parts
        if part.state != "up"
    ]
