"""A consumer as a process of its own, so that it can be killed and frozen: `zklake lab consume`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.server import WorkDirectory
from lab.zookeeper_consumer.registration import name_suffix
from lab.zookeeper_consumer.subscription import build_subscription, list_thread_ids
from zklake.errors import LabError
from zklake.supervision.restartable import RestartableProcess
from zklake.supervision.startable import Startable

_POLL_S = 0.05
_FIRST_REBALANCE_ENDS = frozenset({"rebalanced", "gave_up", "no_brokers"})


class ConsumerProcess(RestartableProcess, Startable):
    """One member; each `launch` is a new run of the same id, its log is appended to."""

    def __init__(
        self,
        zookeeper: str,
        group: str,
        *,
        topics: Sequence[str] = (),
        whitelist: str | None = None,
        blacklist: str | None = None,
        streams: int = 1,
        member_suffix: str | None = None,
        bootstrap: str | None = None,
        log_file: Path | None = None,
        session_timeout_ms: int = 6_000,
        auto_commit_ms: int = 1_000,
        commits: bool = True,
        strategy: str = "range",
        reset: str = "smallest",
        backoff_ms: int = 2_000,
        max_retries: int = 4,
        rate: float | None = None,
        messages: bool = False,
    ) -> None:
        """Nothing starts yet; the member's id is known already."""
        build_subscription(topics, whitelist, blacklist, streams)
        suffix = member_suffix or name_suffix()
        self.member_id = f"{group}_{suffix}"
        self.thread_ids = list_thread_ids(self.member_id, streams)
        self._place = WorkDirectory(log_file.parent if log_file else None)
        super().__init__(self.member_id, log_file or self._place.path / "consumer.log")
        self._seen_before = 0
        options: dict[str, str | float | None] = {
            "--zookeeper": zookeeper,
            "--group": group,
            "--consumer-id": suffix,
            "--whitelist": whitelist,
            "--blacklist": blacklist,
            "--streams": streams,
            "--watched": bootstrap,
            "--session-timeout-ms": session_timeout_ms,
            "--auto-commit-ms": auto_commit_ms,
            "--strategy": strategy,
            "--reset": reset,
            "--backoff-ms": backoff_ms,
            "--max-retries": max_retries,
            "--rate": rate,
        }
        flags = ["--json"] + ["--no-commits"] * (not commits) + ["--messages"] * messages
        self._arguments = [
            *(f"{name}={value}" for name, value in options.items() if value is not None),
            *(f"--topic={topic}" for topic in topics),
            *flags,
        ]

    def launch(self) -> None:
        """Start the process and do not wait for it."""
        self._check_idle()
        self._seen_before = len(self.reports())
        command = [sys.executable, "-m", "zklake", "lab", "consume", *self._arguments]
        self._run(command)

    def start(self, timeout_s: float = 30.0) -> None:
        """Start, and wait until its first rebalance has ended, be it well or badly."""
        self.launch()
        deadline = time.monotonic() + timeout_s
        while not self._has_rebalanced():
            if not self.is_alive() or time.monotonic() > deadline:
                raise LabError(
                    f"{self.member_id} did not join its group within {timeout_s:g} s; "
                    f"its log {self.log_file} ends:\n{self._running().tail()}"
                )
            time.sleep(_POLL_S)

    def close(self) -> None:
        """End it for good, at once."""
        if self.is_alive():
            self.kill()
        self._place.clear()

    def reports(self) -> list[dict[str, Any]]:
        """What it said so far, of all its runs."""
        if not self.log_file.exists():
            return []
        lines = self.log_file.read_text(errors="replace").split("\n")[:-1]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def _has_rebalanced(self) -> bool:
        fresh = self.reports()[self._seen_before :]
        return any(report["event"] in _FIRST_REBALANCE_ENDS for report in fresh)
