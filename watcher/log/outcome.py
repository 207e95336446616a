"""Whether a batch counts whose commit went unanswered: the log itself knows. Pure."""

from __future__ import annotations

from watcher.log.batch import Batch
from watcher.log.resume import LastEvent, decode_last
from zklake.errors import Fenced


def is_committed(batch: Batch, last: LastEvent | None) -> bool:
    """Compare the batch with the newest committed event; raises Fenced when a stranger wrote it."""
    if not batch.events or last is None:
        return False  # rows alone may be written twice
    if last == decode_last(batch.events[-1]):
        return True
    if last.seq < decode_last(batch.events[0]).seq:
        return False
    raise Fenced(f"another watcher wrote event {last.seq} of log {last.log_id} after our last one")
