"""A Delta log written by hand: thousands of commits in seconds, as a stream would leave them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

_DAY_S = 86_400
# Checkpoints along the way, so that the log can be cut.
_CHECKPOINTS = 5

Action = dict[str, Any]


class DeltaLog:
    """Appends commits to a table that exists; the last one is dated now."""

    def __init__(self, delta: DeltaTable, log_id: str, commits: int) -> None:
        self._delta, self._log_id, self._commits = delta, log_id, commits
        self._directory = Path(delta.table_uri.removeprefix("file://")) / "_delta_log"
        self._version = delta.version()
        self._done = 0
        self._now_s = time.time()
        for path in self._directory.iterdir():
            os.utime(path, (self._now_s - _DAY_S, self._now_s - _DAY_S))

    @property
    def at_ms(self) -> int:
        """The time of the next commit."""
        return int(self._at_s() * 1000)

    def _at_s(self) -> float:
        return self._now_s - (self._commits - self._done) * _DAY_S / self._commits

    def commit(self, actions: list[Action], rows: int, seq: int | None) -> None:
        """Write one commit; `seq` is the marker that it carries."""
        at_s = self._at_s()
        info = {
            "timestamp": int(at_s * 1000),
            "operation": "WRITE",
            "operationParameters": {},
            "operationMetrics": {"numOutputRows": str(rows)},
            "engineInfo": "zklake lab",
        }
        lines: list[Action] = [{"commitInfo": info}]
        if seq is not None:
            txn = {"appId": self._log_id, "version": seq, "lastUpdated": int(at_s * 1000)}
            lines.append({"txn": txn})
        self._version += 1
        self._done += 1
        path = self._directory / f"{self._version:020}.json"
        path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *actions]))
        os.utime(path, (at_s, at_s))
        if self._done % max(1, self._commits // _CHECKPOINTS) == 0:
            self._make_checkpoint(at_s)

    def _make_checkpoint(self, at_s: float) -> None:
        self._delta.update_incremental()
        self._delta.create_checkpoint()
        for path in self._directory.glob(f"{self._version:020}.checkpoint*"):
            os.utime(path, (at_s, at_s))
