"""The web application: every page as HTML and as JSON, the live stream, and the static files."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
import structlog
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from dashboard.audit import Audit
from dashboard.budget import Crowd
from dashboard.dialects.burrow.routes import list_burrow_routes
from dashboard.live import Live, LiveResponse, write_mark
from dashboard.metrics.routes import list_metric_routes
from dashboard.openapi.document import build_document
from dashboard.openapi.params import check_params
from dashboard.options import Options
from dashboard.page import Asked, Data, Page
from dashboard.pages import PAGES
from dashboard.pulse import Pulse, PulseTaker
from dashboard.query_shape import write_shape
from dashboard.rendering import render, render_error
from dashboard.security import Guard, find_address
from dashboard.times import read_span
from dashboard.turns import Turns
from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.tables import Tables
from zklake.errors import BusyError, QueryError, ZklakeError

_STATIC = Path(__file__).parent / "static"
_LOG = structlog.get_logger()
# Requests under way, those that wait for a thread included.
MOST_REQUESTS = 200
# Threads of pages, and of the page that anyone can keep busy. What tells of our own health has the
# threads of the library, which neither can take.
_PAGE_THREADS, _SQL_THREADS = 24, 8


class App:
    """The pages over one lake."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.audit = Audit(options.audit_log)
        self.tables = Tables(options.lake, options.cluster)
        self.pulse = PulseTaker(self.tables, options)
        self.live = Live(self.tables, self.pulse, options.refresh_s, options.live_connections)
        self._page_threads = CapacityLimiter(_PAGE_THREADS)
        self._sql_threads = CapacityLimiter(_SQL_THREADS)
        self.turns = Turns()
        self.routes: list[BaseRoute] = [
            *(self._route(page, is_json=False) for page in PAGES),
            *(self._route(page, is_json=True) for page in PAGES),
            Route("/api/openapi.json", lambda request: _write_json(build_document())),
            *list_burrow_routes(self.tables, self.pulse, options),
            *list_metric_routes(self.tables, self.pulse, options),
            Route("/live", self._stream),
            Route("/healthz", _answer_healthz),
            Route("/readyz", self._say_ready),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ]
        handlers: Any = {HTTPException: self._show_error, Exception: self._show_error}
        # Around all of it: Starlette answers for what failed outside of its own middleware.
        pages = Starlette(routes=self.routes, exception_handlers=handlers)
        self.asgi = Guard(Crowd(pages, MOST_REQUESTS), options, self.audit)

    def _route(self, page: Page, *, is_json: bool) -> Route:
        path = (
            f"/api/{page.name}" if is_json else "/" if page.name == "overview" else f"/{page.name}"
        )

        threads = self._sql_threads if page.name == "sql" else self._page_threads

        async def answer(request: Request) -> Response:
            cancellation = Cancellation()
            leaving = asyncio.create_task(_wait_until_left(request, cancellation))
            try:
                return await to_thread.run_sync(
                    self._audit, page, request, is_json, cancellation, limiter=threads
                )
            finally:
                leaving.cancel()
                cancellation.cancel()  # the server ends: nobody will get that answer

        endpoint: Callable[[Request], Awaitable[Response]] = answer
        return Route(path, endpoint, name=path)

    def _audit(
        self, page: Page, request: Request, is_json: bool, cancellation: Cancellation
    ) -> Response:
        """The answer; queries and exports are noted, with what came of them."""
        request.state.outcome = "failed"
        began = time.monotonic()
        try:
            return self._answer(page, request, is_json, cancellation)
        finally:
            query = request.query_params.get("query", "") if page.name == "sql" else ""
            if query or is_json:
                self.audit.note(
                    "query" if query else "export",
                    getattr(request.state, "who", None),
                    find_address(request.scope),
                    write_shape(query) if query else request.url.path,
                    request.state.outcome,
                    seconds=round(time.monotonic() - began, 3),
                )

    def _answer(
        self, page: Page, request: Request, is_json: bool, cancellation: Cancellation
    ) -> Response:
        if cancellation.is_cancelled:
            return Response(status_code=503)  # it waited for a thread longer than for an answer
        if page.name == "sql" and not self.options.sql:
            request.state.outcome = "refused"
            return self._say(request, 403, "SQL is switched off here (dashboard.sql).", None)
        versions = self.tables.look()
        pulse = self.pulse.take()
        now = datetime.now(UTC)
        given = [
            (name, value.replace("\0", "")) for name, value in request.query_params.multi_items()
        ]
        params = dict(given)
        try:
            if is_json:
                check_params(page.all_params, given)
            asked = Asked(
                self.tables,
                read_span(params, now),
                params,
                now,
                self.options,
                pulse,
                self.turns,
                cancellation,
            )
            data = page.load(asked)
        except ZklakeError as error:
            request.state.outcome = "refused"
            status = 400 if isinstance(error, QueryError) else 503
            refused = self._say(request, status, str(error), pulse)
            if isinstance(error, BusyError):
                refused.headers["retry-after"] = "5"
            return refused
        request.state.outcome = "refused" if data.get("error") else "answered"
        if is_json:
            return _write_json({**data, "pulse": pulse})
        mark = write_mark(versions, page.reads, pulse)
        return HTMLResponse(render(page, asked, data, page.draw(asked, data), mark))

    async def _say_ready(self, request: Request) -> Response:
        pulse = await run_in_threadpool(self._look)
        if pulse.watermark_at is None:
            return PlainTextResponse("no data yet\n", 503)
        return PlainTextResponse("ready\n")

    def _look(self) -> Pulse:
        self.tables.look()
        return self.pulse.take()

    async def _stream(self, request: Request) -> Response:
        name = request.query_params.get("page", "")
        page = next((page for page in PAGES if page.name == name), None)
        if page is None:
            raise HTTPException(404)
        seen = request.headers.get("last-event-id") or request.query_params.get("seen", "")
        return LiveResponse(self.live, page.reads, seen)

    async def _show_error(self, request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            text = "This page does not exist." if error.status_code == 404 else error.detail
            answer = self._say(request, error.status_code, text, None)
            answer.headers.update(error.headers or {})
            return answer
        trace = "".join(traceback.format_exception(error))
        _LOG.error("page failed", path=request.url.path, trace=trace)
        return self._say(request, 500, "This page failed. The dashboard's log says why.", None)

    def _say(self, request: Request, status: int, text: str, pulse: Pulse | None) -> Response:
        if request.url.path.startswith("/api/"):
            return _write_json({"error": text}, status)
        title = HTTPStatus(status).phrase
        return HTMLResponse(render_error(title, text, self.options, pulse), status)


async def _answer_healthz(request: Request) -> Response:
    # By the loop itself: no thread is needed to say so.
    return PlainTextResponse("alive\n")


async def _wait_until_left(request: Request, cancellation: Cancellation) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # a body, which no page reads
    cancellation.cancel()


def _write_json(data: Data, status: int = 200) -> Response:
    return Response(msgspec.json.encode(data), status, media_type="application/json")


def build_app(options: Options) -> App:
    """The application; nothing is opened before it is asked."""
    return App(options)
