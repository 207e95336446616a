"""The web application: every page as HTML and as JSON, the live stream, and the static files."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
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
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from dashboard.audit import AuditLog
from dashboard.budget import Crowd
from dashboard.dialects.burrow.routes import list_burrow_routes
from dashboard.finding import Match, UnknownName
from dashboard.live import Live, LiveResponse, write_mark
from dashboard.metrics.routes import list_metric_routes
from dashboard.openapi.address import Error
from dashboard.openapi.document import build_document
from dashboard.openapi.params import check_params
from dashboard.options import Options
from dashboard.page import Asked, Page
from dashboard.pages import PAGES
from dashboard.pulse import Pulse, PulseTaker
from dashboard.query_shape import write_shape
from dashboard.rendering import render, render_error
from dashboard.security import Guard, find_caller
from dashboard.times import read_span
from dashboard.turns import Turns
from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.freshness import read_watermark
from delta_tables.live.reader import Reader
from delta_tables.live.tables import Tables
from zklake.errors import QueryError, ZklakeError
from zklake.roles import Role, is_enough

_STATIC = Path(__file__).parent / "static"
_LOG = structlog.get_logger()
# Requests under way, those that wait for a thread included.
MOST_REQUESTS = 200
# Threads of pages, and of the page that anyone can keep busy. What shows our own health has the
# threads of the library, which neither can take.
_PAGE_THREADS, _SQL_THREADS = 24, 8


class App:
    """The pages over one lake."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.audit = AuditLog(options.audit_log)
        self.reader = Reader(options.lake, options.cluster, options.limits)
        self.tables = Tables(options.lake, options.cluster, source=self.reader)
        self.pulse = PulseTaker(options)
        self.live = Live(self.tables, self.pulse, options.refresh_s, options.live_connections)
        self._page_threads = CapacityLimiter(_PAGE_THREADS)
        self._sql_threads = CapacityLimiter(_SQL_THREADS)
        self.turns = Turns()
        self.routes: list[BaseRoute] = [
            *(self._route(page, is_json=False) for page in PAGES),
            *(self._route(page, is_json=True) for page in PAGES),
            Route("/api/openapi.json", _show_document),
            *list_burrow_routes(self.tables, self.pulse, options),
            *list_metric_routes(self.tables, self.pulse, options),
            Route("/live", self._stream),
            Route("/healthz", _answer_healthz),
            Route("/readyz", self._answer_readyz),
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
                caller = find_caller(request.scope)
                self.audit.note(
                    "query" if query else "export",
                    caller.who,
                    caller.address,
                    write_shape(query) if query else request.url.path,
                    request.state.outcome,
                    role=caller.role,
                    seconds=round(time.monotonic() - began, 3),
                )

    def _answer(
        self, page: Page, request: Request, is_json: bool, cancellation: Cancellation
    ) -> Response:
        if cancellation.is_cancelled:
            return Response(status_code=503)  # it waited for a thread longer than for an answer
        role = find_caller(request.scope).role
        if refusal := self._find_refusal(page, role):
            request.state.outcome = "refused"
            return self._answer_error(request, 403, refusal, None)
        try:
            return self.tables.read(
                lambda tables: self._show(page, request, is_json, tables, cancellation),
                cancellation,
            )
        except ZklakeError as error:
            return self._refuse(request, error, None)

    def _show(
        self,
        page: Page,
        request: Request,
        is_json: bool,
        tables: Tables,
        cancellation: Cancellation,
    ) -> Response:
        """The page, all of it from one snapshot."""
        pulse = self.pulse.take(tables)
        now = datetime.now(UTC)
        given = [
            (name, value.replace("\0", "")) for name, value in request.query_params.multi_items()
        ]
        params = dict(given)
        try:
            if is_json:
                check_params(page.all_params, given)
            asked = Asked(
                tables,
                read_span(params, now),
                params,
                now,
                self.options,
                pulse,
                self.turns,
                cancellation,
                find_caller(request.scope).role,
            )
            data = page.load(asked)
        except ZklakeError as error:
            return self._refuse(request, error, pulse)
        request.state.outcome = "refused" if data.get("error") else "answered"
        if is_json:
            return _answer_json(page.encode(data, pulse))
        if address := page.forward(asked, data):
            return RedirectResponse(address, 303)
        mark = write_mark(tables.versions, page.reads, pulse)
        return HTMLResponse(render(page, asked, data, page.draw(asked, data), mark))

    def _refuse(self, request: Request, error: ZklakeError, pulse: Pulse | None) -> Response:
        request.state.outcome = "refused"
        is_unknown = isinstance(error, UnknownName)
        status = 404 if is_unknown else 400 if isinstance(error, QueryError) else 503
        matches = error.matches if isinstance(error, UnknownName) else ()
        refused = self._answer_error(request, status, str(error), pulse, matches=matches)
        if status == 503:
            refused.headers["retry-after"] = "5"
        return refused

    def _find_refusal(self, page: Page, role: Role) -> str | None:
        if page.name == "sql" and not self.options.sql:
            return "SQL is switched off here (dashboard.sql)."
        if not is_enough(role, page.role):
            return f"{page.title} is for the role {page.role}, and you are logged in as {role}."
        return None

    async def _answer_readyz(self, request: Request) -> Response:
        try:
            at = await run_in_threadpool(self.tables.read, read_watermark)
        except ZklakeError as error:
            return PlainTextResponse(f"{error}\n", 503)
        if at is None:
            return PlainTextResponse("no data yet\n", 503)
        return PlainTextResponse("ready\n")

    def close(self) -> None:
        """End what was started: live streams, and the process that reads the lake."""
        self.live.close()
        self.reader.close()

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
            answer = self._answer_error(request, error.status_code, text, None)
            answer.headers.update(error.headers or {})
            return answer
        trace = "".join(traceback.format_exception(error))
        _LOG.error("page failed", path=request.url.path, trace=trace)
        return self._answer_error(
            request, 500, "This page failed. The dashboard's log says why.", None
        )

    def _answer_error(
        self,
        request: Request,
        status: int,
        text: str,
        pulse: Pulse | None,
        *,
        matches: Sequence[Match] = (),
    ) -> Response:
        if request.url.path.startswith("/api/"):
            return _answer_json(msgspec.json.encode(Error(text)), status)
        title = HTTPStatus(status).phrase
        role = find_caller(request.scope).role
        return HTMLResponse(
            render_error(title, text, self.options, pulse, role, suggestions=matches), status
        )


async def _show_document(request: Request) -> Response:
    return _answer_json(msgspec.json.encode(build_document()))


async def _answer_healthz(request: Request) -> Response:
    # By the loop itself: no thread is needed to say so.
    return PlainTextResponse("alive\n")


async def _wait_until_left(request: Request, cancellation: Cancellation) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # a body, which no page reads
    cancellation.cancel()


def _answer_json(text: bytes, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")


def build_app(options: Options) -> App:
    """The application; nothing is opened before it is asked."""
    return App(options)
