"""A child process that cannot outlive us: `pid` is the program's own, and it dies when we die.

Knows nothing of Java, ZooKeeper or Kafka.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

# The shell becomes the program (exec), so Popen's pid is the program's. The subshell left behind
# reads a pipe whose only write end is ours. End of file without a line: we are gone, even by
# kill -9, so it kills the program ($$ in a subshell is still the outer pid). A line: we have reaped
# the program ourselves, and its pid may by now be somebody else's. Descriptor 3, because a
# background job reads /dev/null as standard input, and dash knows one-digit descriptors only.
# "guarded" shows that the subshell exists: a shell paused before that would outlive us.
_SCRIPT = """exec 3<&0 </dev/null
(read line <&3 || kill -9 $$) >/dev/null 2>&1 &
echo guarded
exec "$@" 3<&- >>"$0" 2>&1
"""

_children: list[weakref.ref[ChildProcess]] = []
_children_lock = threading.Lock()


def strike_all() -> None:
    """Kill -9 every child process of ours; waits for nothing, so a signal handler may."""
    for reference in tuple(_children):
        child = reference()
        if child is not None:
            child.strike()


def read_tail(log_file: Path, lines: int) -> str:
    """The last lines of a log file; nothing when there is none."""
    if not log_file.exists():
        return ""
    return "\n".join(log_file.read_text(errors="replace").splitlines()[-lines:])


def _remember(child: ChildProcess) -> None:
    with _children_lock:
        _children[:] = [one for one in _children if one() is not None]
        _children.append(weakref.ref(child))


class ChildProcess:
    """One run of one program, its output appended to a log file."""

    def __init__(self, command: Sequence[str], log_file: Path) -> None:
        """Start the program in a session of its own, so that Ctrl-C reaches only us."""
        self.log_file = log_file
        self.is_paused = False
        self._release_lock = threading.Lock()
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, str(log_file), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        with self._process.stdout as answer:
            answer.readline()
        _remember(self)

    @property
    def pid(self) -> int:
        """The program's own process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while the program runs; minus the signal number when a signal ended it."""
        code = self._process.poll()
        if code is not None:
            self._release()
        return code

    def is_alive(self) -> bool:
        """True while the program runs (a paused one does)."""
        return self.exit_code is None

    def kill(self) -> None:
        """Kill -9: no time to flush, close or say goodbye."""
        self._process.kill()
        self._process.wait()
        self._release()

    def strike(self) -> None:
        """Kill -9 of the program and of what it has started itself, without waiting."""
        if self._process.returncode is None:
            # The group is the program's own (start_new_session), and bears its id.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def ask_to_stop(self) -> None:
        """Send SIGTERM and do not wait; a paused program is woken so that it can hear it."""
        self._process.terminate()
        self.resume()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Ask to stop and wait; kill -9 when it takes longer than the timeout."""
        self.ask_to_stop()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.strike()
            self._process.wait()
        self._release()

    def pause(self) -> None:
        """SIGSTOP: sockets stay open, nothing answers."""
        self._process.send_signal(signal.SIGSTOP)
        # The signal is on its way: the process may answer once more until it has really stopped.
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self.is_paused = True

    def resume(self) -> None:
        """SIGCONT."""
        self._process.send_signal(signal.SIGCONT)
        self.is_paused = False

    def tail(self, lines: int = 30) -> str:
        """The last lines of the log file."""
        return read_tail(self.log_file, lines)

    def _release(self) -> None:
        pipe = self._process.stdin
        # One thread may see the end that another one brought about.
        with self._release_lock:
            if pipe is None or pipe.closed:
                return
            # The subshell may have been killed too (kill -9 of the whole session by hand).
            with contextlib.suppress(BrokenPipeError):
                pipe.write(b"reaped\n")
                pipe.flush()
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
