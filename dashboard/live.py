"""Server-sent events: tells an open page that what it shows has changed, and how old it all is."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection

from starlette.concurrency import run_in_threadpool

from dashboard.pulse import Pulse, PulseTaker
from delta_tables.live.tables import Tables
from zklake.times import write_time

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
        """`changed` when one of these tables, or the lake's health, is another than was seen.

        `pulse` brings the times of the pulse: a page whose tables are quiet need not be asked for.
        """
        sent_at, told = time.monotonic(), ""
        yield "retry: 2000\n\n"
        while not self._closing.is_set():
            mark, times = await run_in_threadpool(self._read, names)
            if mark != seen:
                yield f"event: changed\nid: {mark}\ndata: {mark}\n\n"
            if times != told:
                yield f"event: pulse\ndata: {times}\n\n"
            if (mark, times) != (seen, told):
                seen, told, sent_at = mark, times, time.monotonic()
            elif time.monotonic() - sent_at > _BEAT_S:
                yield ": still here\n\n"
                sent_at = time.monotonic()
            await self._wait()

    def _read(self, names: Collection[str]) -> tuple[str, str]:
        versions, pulse = self._tables.look(), self._pulse.take()
        return write_mark(versions, names, pulse), _write_times(pulse)

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), self._refresh_s)
        except TimeoutError:
            return


def write_mark(versions: dict[str, int], names: Collection[str], pulse: Pulse) -> str:
    """What a page has seen, as one word."""
    tables = [str(versions.get(name, "")) for name in sorted(names)]
    parts = [part.state.replace(" ", "") for part in pulse.parts]
    health = "empty" if pulse.watermark_at is None else "stale" if pulse.is_stale else "fresh"
    return "-".join([*tables, health, *parts])


def _write_times(pulse: Pulse) -> str:
    times = {"watermark_at": pulse.watermark_at, "sampled_at": pulse.sampled_at}
    return json.dumps({name: write_time(at) for name, at in times.items() if at})
