"""Asks brokers about groups through a process of its own (`group_answers`), which may die."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from watcher.sampling.group_answers import GroupAnswer, Listed, Message, read_frame, write_frame
from watcher.sampling.polled import Polled


class GroupQuestions:
    """One process at a time, begun by the first question and again after it has ended."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = dict(config)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def list_groups(self) -> Listed:
        """Every group that brokers list."""
        return self._ask([], Listed)

    def ask_groups(self, group_ids: Sequence[str]) -> dict[str, Polled]:
        """What each of these groups answered."""
        answers = self._ask(list(group_ids), list[GroupAnswer])
        return {
            each.group_id: Polled(each.state, None if each.commits is None else dict(each.commits))
            for each in answers
        }

    def renew(self) -> None:
        """Ask by a new process next: librdkafka never forgets a group's coordinator.

        Once that has moved, every answer of the same client is NOT_COORDINATOR, or its end.
        """
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def close(self) -> None:
        """End the process; a question under way is not awaited."""
        self._is_closed = True
        if (process := self._process) is not None:
            process.kill()

    def _ask(self, group_ids: list[str], type_: type[Message]) -> Message:
        process = self._process or self._start()
        try:
            write_frame(_pipe(process.stdin), group_ids)
            return read_frame(_pipe(process.stdout), type_)
        except (EOFError, OSError) as error:
            # Both ends go with the process: it has ended, or is about to.
            ended = process.wait()
            self.renew()
            how = signal.Signals(-ended).name if ended < 0 else f"code {ended}"
            raise ConnectionError(f"the process that asks about groups ended ({how})") from error

    def _start(self) -> subprocess.Popen[bytes]:
        if self._is_closed:
            raise ConnectionError("nobody asks about groups any more")
        # In a session of its own: Ctrl-C is for us, and it ends with its standard input.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "watcher.sampling.group_answers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._process = process
        write_frame(_pipe(process.stdin), self._config)
        return process


def _pipe(stream: Any) -> BinaryIO:
    assert stream is not None
    pipe: BinaryIO = stream
    return pipe
