"""Server-sent events: tells an open page that what it shows has changed. Sends no data itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection

from starlette.concurrency import run_in_threadpool

from dashboard.pulse import Pulse, PulseTaker
from dashboard.tables import Tables

_BEAT_S = 15.0


class Live:
    """Watches the lake for every page that is open."""

    def __init__(self, tables: Tables, pulse: PulseTaker, refresh_s: float) -> None:
        self._tables, self._pulse, self._refresh_s = tables, pulse, refresh_s
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End every stream."""
        self._closing.set()

    async def stream(self, names: Collection[str], seen: str) -> AsyncIterator[str]:
        """An event whenever one of these tables, or the pulse, is another than was seen."""
        sent_at = time.monotonic()
        yield "retry: 2000\n\n"
        while not self._closing.is_set():
            mark = await run_in_threadpool(self._read, names)
            if mark != seen:
                yield f"event: changed\nid: {mark}\ndata: {mark}\n\n"
                seen, sent_at = mark, time.monotonic()
            elif time.monotonic() - sent_at > _BEAT_S:
                yield ": still here\n\n"
                sent_at = time.monotonic()
            await self._wait()

    def _read(self, names: Collection[str]) -> str:
        return write_mark(self._tables.look(), names, self._pulse.take())

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), self._refresh_s)
        except TimeoutError:
            return


def write_mark(versions: dict[str, int], names: Collection[str], pulse: Pulse) -> str:
    """What a page has seen, as one word."""
    tables = [str(versions.get(name, "")) for name in sorted(names)]
    parts = [part.state.replace(" ", "") for part in pulse.parts]
    return "-".join([*tables, "stale" if pulse.is_stale else "fresh", *parts])
