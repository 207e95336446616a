"""Who did what: logins, SQL queries and exports, as JSON lines appended to a file.

No secret gets in: no credentials, no name that a stranger typed, and of a query only its shape.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import structlog

from zklake.errors import SettingsError
from zklake.times import write_time

_LOG = structlog.get_logger()
_MODE = 0o600


class AuditLog:
    """The file is opened anew for each line: it may be moved away at any time (logrotate)."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        if path:
            try:
                self._append(path, b"")
            except OSError as error:
                raise SettingsError(
                    f"dashboard.audit_log: cannot write {path} ({error.strerror}): give the "
                    "dashboard a file that it may write, in a directory that exists"
                ) from error

    def note(
        self, event: str, who: str | None, address: str, what: str, outcome: str, **more: object
    ) -> None:
        """One line; where it cannot be written, the log says so and the request goes on."""
        if not self._path:
            return
        line = {"at": write_time(datetime.now(UTC)), "event": event, "who": who, "from": address}
        text = json.dumps({**line, "what": what, "outcome": outcome, **more})
        try:
            self._append(self._path, f"{text}\n".encode())
        except OSError as error:
            _LOG.error("the audit log cannot be written", path=self._path, error=error.strerror)

    def _append(self, path: str, line: bytes) -> None:
        # In one write: lines of several processes do not mix.
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _MODE)
        try:
            os.write(file, line)
        finally:
            os.close(file)
