"""What a consumer says of itself: one report per thing that happened, as a line or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Report(NamedTuple):
    """`event` is one of EVENTS; the details are plain values."""

    at_ms: int
    event: str
    details: dict[str, Any]


EVENTS = (
    "registered",  # member_id, session_id
    "rebalancing",  # why
    "conflict",  # try, holders: thread ids by partition
    "failed",  # try, why
    "rebalanced",  # tries
    "no_brokers",  # nothing to rebalance for; a watch on /brokers/ids waits for one
    "owns",  # partitions by topic
    "gave_up",  # tries
    "committed",  # offsets by partition
    "expired",  # the session is over, and every ephemeral znode with it
    "fetch_error",  # why
    "message",  # topic, partition, offset; only when asked for
    "stopped",
)

OnReport = Callable[[Report], None]


class Reporter:
    """Stamps what happens and hands it on."""

    def __init__(self, on_report: OnReport) -> None:
        """`on_report` is called on the consumer's own thread."""
        self._on_report = on_report

    def say(self, event: str, **details: Any) -> None:
        """Report one thing."""
        self._on_report(Report(int(time.time() * 1000), event, details))


def format_json(report: Report) -> str:
    """One line of JSON."""
    return json.dumps({"at_ms": report.at_ms, "event": report.event, **report.details})


def format_line(report: Report) -> str:
    """One line for a person."""
    details = "  ".join(f"{name}={_show(value)}" for name, value in report.details.items())
    return f"{report.event.replace('_', ' '):<12} {details}".rstrip()


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_show(inner)}" for name, inner in value.items()) or "nothing"
    if isinstance(value, list):
        return " ".join(str(inner) for inner in value)
    return str(value)
