"""Which paths are read, and when: for watch events, and for a scan. No I/O.

One outstanding read per path, a bounded number in flight, reads for events before those of a scan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from watcher.event_writer import EventWriter
from watcher.long_paths import is_hashed
from watcher.messages import CREATED, DELETED, NO_NODE, Reply, Request, WatchEvent, ZnodeStat
from watcher.release import Slot
from watcher.scan import LIGHT_BYTES, Scan
from watcher.watch_state import Reading, WatchState


class Reader:
    """Asks for what has to be read; each answer goes to the writer of events."""

    def __init__(
        self, state: WatchState, writer: EventWriter, *, limit: int, scan_bytes: int
    ) -> None:
        self.requests: list[Request] = []
        self.in_flight = 0
        self._state, self._release, self._writer = state, state.release, writer
        self._limit = limit
        self._scan_bytes = scan_bytes
        self._wanted: deque[str] = deque()

    def want(self, path: str, reading: Reading) -> None:
        """Read this path as soon as there is room."""
        self._state.readings[path] = reading
        self._wanted.append(path)
        if reading.of_scan and self._state.scan is not None:
            self._state.scan.outstanding += 1

    def list_children(self, path: str) -> None:
        """Ask for the children of a znode."""
        self.in_flight += 1
        self.requests.append(Request("children", path, not self._state.mode.is_recursive))

    def send_wanted(self) -> None:
        """Send what events wait for, as far as the number in flight allows."""
        while self._wanted and self.in_flight < self._limit:
            self._read(self._wanted.popleft())

    def walk(self, scan: Scan) -> None:
        """Read on, as far as the number in flight, the buffer and an audit's pace allow."""
        state = self._state
        room = self._scan_bytes - self._release.bytes_waiting - self._release.held_bytes
        while scan.todo and self.in_flight < self._limit and self.in_flight * scan.weight < room:
            # A frame that is wanted waits for the audit: then it hurries.
            if scan.purpose == "audit" and state.audit_allowance <= 0 and not state.is_frame_wanted:
                return
            path = scan.todo.popleft()
            if path in scan.settled:
                continue
            self._mark(scan, path)
            reading = state.readings.get(path)
            if reading is not None and reading.of_scan:
                continue
            scan.outstanding += 1
            state.audit_allowance -= 1
            if reading is not None:
                reading.of_scan = True
            else:
                state.readings[path] = Reading(scan.trusts_model, of_scan=True)
                self._read(path)

    def forget(self) -> None:
        """The connection is gone: nothing will be answered."""
        self.requests.clear()
        self._wanted.clear()
        self.in_flight = 0

    def apply_event(self, event: WatchEvent, at_ms: int) -> None:
        """Give an event its place in the log, and read what it is about."""
        scan, readings = self._state.scan, self._state.readings
        reading = readings.get(event.path)
        if reading is None:
            reading = self._meet(event)
            if event.type != DELETED:
                self.want(event.path, reading)
        if event.type == CREATED and scan is not None:
            # Its parent may have been listed while it was not there.
            self._mark(scan, event.path)
        reading.events.append(event)
        reading.slots.append(self._release.append(Slot(at_ms), event.path))
        if event.path not in readings:
            # A delete needs no read: it is written at once, in its place.
            self._writer.resolve(event.path, reading, None, at_ms)

    def apply_value(
        self,
        reply: Reply,
        reading: Reading,
        at_ms: int,
        descend: Callable[[Scan, str, ZnodeStat], None],
    ) -> None:
        """What a read answered; a scan goes on below it by `descend`."""
        scan = self._state.scan
        if scan is not None and reading.of_scan:
            scan.outstanding -= 1
            if reply.stat is not None:
                scan.znodes += 1
                size = reply.stat.data_length
                if size > LIGHT_BYTES or scan.weight > LIGHT_BYTES:
                    scan.weigh(size + LIGHT_BYTES)
                descend(scan, reply.path, reply.stat)
            elif reply.error != NO_NODE:
                # Nobody lists its children to us, though we may read them: those we know of.
                self._ask_for_known(scan, reply.path)
        self._writer.resolve(reply.path, reading, reply, at_ms)

    def _read(self, path: str) -> None:
        self.in_flight += 1
        self.requests.append(Request("get", path, not self._state.mode.is_recursive))

    def _meet(self, event: WatchEvent) -> Reading:
        """The first event of a path that is not being read."""
        scan = self._state.scan
        if scan is None:
            return Reading(trusted=True, of_scan=False)
        trusted = scan.trusts_model or event.path in scan.settled
        if not scan.trusts_model:
            self._mark(scan, event.path)
        return Reading(trusted, of_scan=not trusted)

    def _mark(self, scan: Scan, path: str) -> None:
        """Settled under its own name, and under the one the model knows it by."""
        scan.settled.add(path)
        sealed = self._release.sealed_path(path)
        if sealed is not path:
            scan.settled.add(sealed)

    def _ask_for_known(self, scan: Scan, path: str) -> None:
        for known in scan.below(self._release.sealed_path(path), self._release.known_paths):
            if is_hashed(known):
                # Its true name is not known: nothing can be asked, and nothing is claimed.
                scan.settled.add(known)
            else:
                scan.todo.append(known)
