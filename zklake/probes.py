"""A small HTTP server for probes: one loop, a few threads, one answer per connection.

It asks for no password, so it takes nothing for granted: who is silent, slow or deaf is cut off,
and however many come, no more memory and no more threads are needed.
"""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

_HEAD_BYTES = 8192
_WORKERS = 4
# Those that have not asked yet: the oldest makes room, once it had the time to be heard, and at
# once when there are far too many.
_MOST_SILENT, _GRACE_S, _FAR_TOO_MANY = 64, 1.0, 1000
# Those that wait for an answer: no more.
_MOST_ASKING = 64


class HttpAnswer(NamedTuple):
    """An answer over HTTP."""

    status: int
    text: str
    content_type: str = "text/plain; charset=utf-8"


class ProbeTimeouts(NamedTuple):
    """Seconds until a connection is cut: by when it must have asked, and have read the answer."""

    head_s: float = 5.0
    answer_s: float = 30.0


class ProbeServer:
    """Answers GET by a function of the path, on a socket that listens already."""

    def __init__(
        self, taken: socket.socket, answer: Callable[[str], HttpAnswer], patience: ProbeTimeouts
    ) -> None:
        self._taken, self._answer, self._patience = taken, answer, patience
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        # In the order in which they came, and when.
        self._silent: dict[asyncio.Task[None], float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: queue.SimpleQueue[tuple[str, asyncio.Future[HttpAnswer]] | None]
        self._asked = queue.SimpleQueue()
        # Daemons: an answer that hangs must not keep the process from ending.
        self._threads = [
            threading.Thread(target=self._loop.run_until_complete, args=[self._run()], daemon=True),
            *(threading.Thread(target=self._work, daemon=True) for _ in range(_WORKERS)),
        ]

    def start(self) -> None:
        """Answer from now on."""
        for number, thread in enumerate(self._threads):
            thread.name = f"health-{number}"
            thread.start()

    def stop(self) -> None:
        """Close every connection, and the socket."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._threads[0].join()
        for _ in range(_WORKERS):
            self._asked.put(None)
        self._loop.close()

    async def _run(self) -> None:
        server = await asyncio.start_server(self._greet, sock=self._taken, limit=_HEAD_BYTES)
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Also of one that is cancelled before it begins.
        task.add_done_callback(lambda done: writer.transport.abort())
        task.add_done_callback(lambda done: self._silent.pop(done, None))
        now = self._silent[task] = self._loop.time()
        while len(self._silent) > _MOST_SILENT:
            oldest, since = next(iter(self._silent.items()))
            if now - since < _GRACE_S and len(self._silent) < _FAR_TOO_MANY:
                return
            del self._silent[oldest]
            oldest.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._patience.head_s):
                head = await reader.readuntil(b"\r\n\r\n")
            if me := asyncio.current_task():
                self._silent.pop(me, None)
            async with asyncio.timeout(self._patience.answer_s):
                writer.write(_write(await self._find(head)))
                writer.close()
                await writer.wait_closed()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return

    async def _find(self, head: bytes) -> HttpAnswer:
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return HttpAnswer(400, "this is no request\n")
        if words[0] != b"GET":
            return HttpAnswer(405, "use GET\n")
        if len(self._tasks) - len(self._silent) > _MOST_ASKING:
            return HttpAnswer(503, "too many ask at once\n")
        found: asyncio.Future[HttpAnswer] = self._loop.create_future()
        self._asked.put((words[1].decode("latin-1"), found))
        return await found

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            path, found = asked
            try:
                answer = self._answer(path)
            except Exception as error:
                answer = HttpAnswer(500, f"the state cannot be read: {type(error).__name__}\n")
            try:
                self._loop.call_soon_threadsafe(_hand_over, found, answer)
            except RuntimeError:  # stopped meanwhile
                return


def _hand_over(found: asyncio.Future[HttpAnswer], answer: HttpAnswer) -> None:
    if not found.done():
        found.set_result(answer)


def _write(answer: HttpAnswer) -> bytes:
    # A path may hold bytes that are no text.
    body = answer.text.encode(errors="backslashreplace")
    head = (
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
        f"Content-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
