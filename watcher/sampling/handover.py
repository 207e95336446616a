"""From the sampler's thread to the core: one parcel at a time, in one order with znode events.

A parcel waits in the core's inbox, never the other way round: nothing here can delay a znode event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event, Lock

from watcher.messages import Sampled
from watcher.sampling.packing import cut
from watcher.zookeeper.inbox import Inbox
from zklake.events.samples import Sample

_POLL_S = 0.1


class Handover:
    """Memory is bounded: the next parcel goes only when the last one has its place in the log."""

    def __init__(
        self, inbox: Inbox, last_seq: Callable[[], int], has_room: Callable[[], bool]
    ) -> None:
        """`has_room` says whether the log's Kafka keeps up: else it is not the time for samples."""
        self.last_seq, self.has_room = last_seq, has_room
        self._inbox = inbox
        self._lock = Lock()
        self._closed = Event()

    def post(self, samples: Sequence[Sample]) -> bool:
        """Return once they have their seq; False when closed meanwhile, and nothing is promised."""
        return all(self._post_parcel(parcel) for parcel in cut(samples))

    def _post_parcel(self, parcel: tuple[Sample, ...]) -> bool:
        released = Event()
        while not self.has_room():
            if self._closed.wait(_POLL_S):
                return False
        with self._lock:
            if self._closed.is_set():
                return False
            self._inbox.put((Sampled(parcel, released.set),))
        while not released.wait(_POLL_S):
            if self._closed.is_set():
                return False
        return True

    def close(self) -> None:
        """Nothing is put into the inbox from here on."""
        with self._lock:
            self._closed.set()
