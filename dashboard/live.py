"""Server-sent events: an open page learns that what it shows has changed, and how old it all is."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from dashboard.budget import Budget, refuse
from dashboard.pulse import Pulse, PulseTaker
from delta_tables.live.tables import Tables
from zklake.errors import LakeError
from zklake.times import write_time

_BEAT_S = 15.0


class Live:
    """Watches the lake for every page that is open."""

    def __init__(self, tables: Tables, pulse: PulseTaker, refresh_s: float, most: int) -> None:
        self._tables, self._pulse, self._refresh_s = tables, pulse, refresh_s
        self.budget = Budget(most)
        self._closing = asyncio.Event()
        # What the last look saw, and when: hundreds of pages are open, and one look is enough.
        self._looking = asyncio.Lock()
        self._looked: tuple[float, dict[str, int], Pulse] | None = None

    def close(self) -> None:
        """End every stream."""
        self._closing.set()

    async def stream(self, names: Collection[str], seen: str) -> AsyncIterator[str]:
        """`changed` when one of these tables, or the lake's health, is another than was seen.

        `pulse` brings the times of the pulse: a page whose tables are quiet need not be asked for.
        """
        sent_at, sent = time.monotonic(), ""
        yield "retry: 2000\n\n"
        while not self._closing.is_set():
            versions, pulse = await self._look()
            mark, times = write_mark(versions, names, pulse), _write_times(pulse)
            if mark != seen:
                yield f"event: changed\nid: {mark}\ndata: {mark}\n\n"
            if times != sent:
                yield f"event: pulse\ndata: {times}\n\n"
            if (mark, times) != (seen, sent):
                seen, sent, sent_at = mark, times, time.monotonic()
            elif time.monotonic() - sent_at > _BEAT_S:
                yield ": still here\n\n"
                sent_at = time.monotonic()
            await self._wait()

    async def _look(self) -> tuple[dict[str, int], Pulse]:
        async with self._looking:
            if self._looked is None or time.monotonic() - self._looked[0] > self._refresh_s / 2:
                try:
                    seen = await run_in_threadpool(self._see)
                except LakeError:
                    if self._looked is None:
                        raise
                    seen = self._looked[1:]  # the next look will show it
                self._looked = (time.monotonic(), *seen)
            return self._looked[1:]

    def _see(self) -> tuple[dict[str, int], Pulse]:
        return self._tables.read(lambda still: (still.versions, self._pulse.take(still)))

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), self._refresh_s)
        except TimeoutError:
            return


class LiveResponse(StreamingResponse):
    """The stream of one open page, as long as the budget has a place for it."""

    def __init__(self, live: Live, names: Collection[str], seen: str) -> None:
        super().__init__(
            live.stream(names, seen),
            media_type="text/event-stream",
            headers={"x-accel-buffering": "no"},
        )
        self._budget = live.budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        with self._budget.take() as is_free:
            if is_free:
                await super().__call__(scope, receive, send)
                return
        text = (
            f"{self._budget.most} open pages follow the lake already: this one stays as it is "
            "until it is reloaded; dashboard.live_connections allows more"
        )
        await refuse(scope["path"], text)(scope, receive, send)


def write_mark(versions: dict[str, int], names: Collection[str], pulse: Pulse) -> str:
    """What a page has seen, as one word."""
    tables = [str(versions.get(name, "")) for name in sorted(names)]
    parts = [part.state.replace(" ", "") for part in pulse.parts]
    health = "empty" if pulse.watermark_at is None else "stale" if pulse.is_stale else "fresh"
    return "-".join([*tables, health, *parts])


def _write_times(pulse: Pulse) -> str:
    times = {"watermark_at": pulse.watermark_at, "sampled_at": pulse.sampled_at}
    return json.dumps({name: write_time(at) for name, at in times.items() if at})
