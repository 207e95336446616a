"""Burrow's addresses as routes of the dashboard. It only reads: every other method is refused.

A name may hold any character: a path is taken apart before it is decoded, so that `%2F` is no
slash.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URLPath
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, NoMatchFound, Route
from starlette.types import Receive, Scope, Send

from dashboard.dialects.burrow.addresses import ADDRESSES, split
from dashboard.dialects.burrow.question import UNKNOWN, BurrowAnswer, Question, refuse
from dashboard.dialects.burrow.sight import LakeView
from dashboard.options import Options
from dashboard.pulse import PulseTaker
from delta_tables.live.span import read_moment
from delta_tables.live.tables import Tables
from zklake.errors import QueryError, ZklakeError

_READS = {"allow": "GET, HEAD"}
_ONLY_READS = (
    "zklake only reads: it removes no group and changes no setting. A group that was deleted from "
    "ZooKeeper or Kafka leaves these answers by itself"
)


def list_burrow_routes(tables: Tables, pulse: PulseTaker, options: Options) -> list[BaseRoute]:
    """Burrow's health addresses, and everything below /v3."""

    def look() -> datetime | None:
        return tables.read(lambda still: pulse.take(still).watermark_at)

    async def answer_ready(request: Request) -> Response:
        is_ready = await run_in_threadpool(look) is not None
        return PlainTextResponse("READY") if is_ready else PlainTextResponse("STARTING", 503)

    return [
        Route("/burrow/admin", lambda request: PlainTextResponse("GOOD")),
        Route("/burrow/admin/ready", answer_ready),
        _Api(tables, pulse, options),
    ]


class _Api(BaseRoute):
    """Everything below /v3, whatever the method: Starlette's own patterns stop at a newline."""

    def __init__(self, tables: Tables, pulse: PulseTaker, options: Options) -> None:
        self._tables, self._pulse, self._options = tables, pulse, options

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it is ours."""
        is_ours = scope["type"] == "http" and f"{scope['path']}/".startswith("/v3/")
        return (Match.FULL if is_ours else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """Nobody links here."""
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        request = Request(scope)
        raw: bytes = scope["raw_path"]
        path = raw.decode("ascii", "replace").partition("?")[0]
        if request.method in ("GET", "HEAD"):
            answer = await run_in_threadpool(self._answer, request, path)
            headers = {}
        else:
            answer, headers = refuse(405, _ONLY_READS), _READS
        body = msgspec.json.encode(answer.write(unquote(path)))
        response = Response(body, answer.status, headers, media_type="application/json")
        await response(scope, receive, send)

    def _answer(self, request: Request, path: str) -> BurrowAnswer:
        segments = [unquote(segment) for segment in split(path)]
        for address in ADDRESSES:
            if (found := address.match(segments)) is not None:
                try:
                    return self._tables.read(
                        lambda still: address.answer(self._ask(still, request, found))  # noqa: B023
                    )
                except ZklakeError as error:
                    return refuse(400 if isinstance(error, QueryError) else 503, str(error))
        return UNKNOWN

    def _ask(self, tables: Tables, request: Request, names: tuple[str, ...]) -> Question:
        now = datetime.now(UTC)
        # By the lake's own time: while it stands still, nobody has stopped.
        at = self._pulse.take(tables).watermark_at or now
        text = request.query_params.get("time", "")
        moment = read_moment(text, now).at if text else at
        options = self._options
        # Not kept: such questions name moments, and would drive out the answers of pages.
        sight = LakeView(tables.ask, options.cluster, moment, bool(text), options.burrow)
        host, port = request.scope.get("server") or ("", "")
        return Question(names, sight, self._options, f"{host}:{port}")
