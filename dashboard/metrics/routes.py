"""/metrics, and each set alone at /metrics/<set>, so that a scrape job can take one."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from dashboard.metrics.exposition import choose_form
from dashboard.metrics.scrape import scrape
from dashboard.metrics.sets import SET_BY_NAME
from dashboard.options import Options
from dashboard.pulse import PulseTaker
from delta_tables.live.tables import Tables
from zklake.errors import ZklakeError


def list_metric_routes(tables: Tables, pulse: PulseTaker, options: Options) -> list[BaseRoute]:
    """The addresses; nothing is read before one is asked."""

    def answer(request: Request, names: Sequence[str]) -> Response:
        form = choose_form(request.headers.get("accept", ""))
        try:
            text = tables.read(
                lambda still: scrape(still, pulse.take(still), options.metrics, names, form)
            )
        except ZklakeError as error:
            return PlainTextResponse(f"{error}\n", 503)
        return Response(text, headers={"content-type": form})

    async def answer_all(request: Request) -> Response:
        return await run_in_threadpool(answer, request, options.metrics.sets)

    async def answer_one(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in SET_BY_NAME:
            return PlainTextResponse(
                f"No such set of metrics. Use one of: {', '.join(SET_BY_NAME)}\n", 404
            )
        return await run_in_threadpool(answer, request, (name,))

    return [Route("/metrics", answer_all), Route("/metrics/{name}", answer_one)]
