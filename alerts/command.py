"""A message on the standard input of a program. No shell, and no name of ours in its arguments."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO

from alerts.delivery import Delivery
from alerts.message import write_body
from alerts.transport import SendFailed
from zklake.settings.alert_notifiers import Command
from zklake.settings.names import ENV_PREFIX

_LAST_BYTES = 300


class CommandTransport:
    """Runs one program."""

    def __init__(self, settings: Command) -> None:
        self._settings = settings

    def send(self, delivery: Delivery) -> None:
        """Run it; exit code 0 is a yes."""
        body = write_body(delivery, self._settings.body).encode("utf-8", "backslashreplace")
        # A file, no pipe: what it leaves running keeps a pipe open, and may write without end.
        with TemporaryFile() as said:
            self._run(body, said)

    def _run(self, body: bytes, said: IO[bytes]) -> None:
        try:
            process = subprocess.Popen(
                self._settings.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
                # Our settings, passwords among them, are none of its business.
                env={k: v for k, v in os.environ.items() if not k.startswith(ENV_PREFIX)},
                start_new_session=True,
            )
        except OSError as error:
            raise SendFailed(f"cannot be started: {error.strerror}") from error
        with process:
            try:
                process.communicate(body, timeout=self._settings.timeout_s)
            except subprocess.TimeoutExpired as error:
                raise SendFailed(f"took longer than {self._settings.timeout_s:g} s") from error
            finally:
                if process.poll() is None:
                    # With all it has started: the group is its own.
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        if process.returncode != 0:
            raise SendFailed(f"exited with {process.returncode}: {_read_end(said)}")


def _read_end(said: IO[bytes]) -> str:
    length = said.seek(0, os.SEEK_END)
    said.seek(max(0, length - _LAST_BYTES))
    return said.read(_LAST_BYTES).decode(errors="replace").strip()
