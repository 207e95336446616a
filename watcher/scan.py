"""One walk over the whole tree: which paths are still to be read, which are settled. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal

from zklake.events.envelope import Origin

# What ZooKeeper takes by default, and a record with little data.
MAX_VALUE_BYTES = 1 << 20
LIGHT_BYTES = 500

Purpose = Literal[
    "resync",  # after every (re)connect: compare with the model
    "frame",  # publish a read of every znode
    "audit",  # slowly re-read everything and expect no difference
]


class Scan:
    """Paths to read, and those whose state is known again."""

    def __init__(
        self, purpose: Purpose, frame_id: str, *, base_is_model: bool, careful: bool = False
    ) -> None:
        """Careful: any read may bring the largest value there can be."""
        self.purpose = purpose
        self.frame_id = frame_id
        self.base_is_model = base_is_model
        # No gap lies before a frame or an audit; one lies before every resync.
        self.trusts_model = purpose != "resync"
        # A frame reads every znode into the log; so does a resync that has no model.
        self.publishes_all = purpose == "frame" or not base_is_model
        # Where a difference found by this scan comes from.
        self.origin: Origin = "resync" if base_is_model else "scan"
        if purpose == "audit":
            self.origin = "audit"
        self.todo: deque[str] = deque(["/"])
        # Paths that from here on are followed by watch events and reads alone.
        self.settled: set[str] = set()
        self.outstanding = 0
        self.znodes = 0
        # Every path known when the first subtree was found to be gone, sorted.
        self.known: list[str] | None = None
        self.differences = 0
        # How large the next values may be: as the largest so far, which is forgotten bit by bit.
        self.weight = MAX_VALUE_BYTES
        self._careful = careful

    @property
    def is_done(self) -> bool:
        """Everything was read."""
        return not self.todo and self.outstanding == 0

    def weigh(self, size: int) -> None:
        """A value came in; one that is small changes nothing where only small ones are expected."""
        if not self._careful:
            self.weight = max(size, LIGHT_BYTES, self.weight - self.weight // 16)

    def below(self, path: str, known_paths: Callable[[], list[str]]) -> list[str]:
        """Known paths under a path, deepest last."""
        if self.known is None:
            self.known = sorted(known_paths())
        first = bisect_left(self.known, path + "/")
        last = bisect_left(self.known, path + "0")  # "0" is the character after "/"
        return self.known[first:last]

    def add_children(self, path: str, names: Iterable[str]) -> None:
        """The children of a znode just listed still have to be read."""
        prefix = "/" if path == "/" else path + "/"
        self.todo.extend(prefix + name for name in names)
