"""`zklake stream`: fold the log into Delta tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, Log, collect_flags
from zklake.events.topics import name_topics

if TYPE_CHECKING:
    from streaming.query import Stream
    from zklake.settings.models import Settings

Once = Annotated[
    bool, typer.Option("--once", help="Fold everything there is, then exit.", show_default=False)
]


def stream(
    *,
    log: Log = None,
    cluster: Cluster = None,
    lake: Lake = None,
    once: Once = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Fold the log of one cluster into its Delta tables, until stopped."""
    from zklake.logs import configure_logging
    from zklake.settings.load import load_settings

    settings = load_settings(config, collect_flags(log=log, cluster=cluster, lake=lake))
    configure_logging()
    if once:
        _fold_once(settings, as_json)
        return
    from streaming.daemon import Daemon

    options = settings.stream
    Daemon(plan_stream(settings), options.http, options.driver_memory).run()


def plan_stream(settings: Settings) -> Stream:
    """What the settings say about the log and the lake."""
    from pathlib import Path

    from streaming.query import Stream

    path = settings.lake.path
    return Stream(
        bootstrap=settings.log.bootstrap,
        topic=name_topics(settings.cluster).events,
        cluster=settings.cluster,
        # Spark takes a relative path to be one of its own working directory's.
        lake=path if "://" in path else str(Path(path).absolute()),
        max_records=settings.stream.max_offsets_per_trigger,
        trigger_ms=settings.stream.trigger_ms,
        checkpoint_parent=settings.stream.checkpoint,
    )


def _fold_once(settings: Settings, as_json: bool) -> None:
    from streaming.daemon import fold_once

    plan = plan_stream(settings)
    totals = fold_once(plan, settings.stream.driver_memory)
    figures = {
        "batches": totals.batches,
        "events": totals.events,
        "quarantined": totals.quarantined,
        "lake": f"{plan.lake}/{plan.cluster}",
    }
    if as_json:
        print(json.dumps(figures))
    else:
        print("folded {events} events in {batches} batches into {lake}".format(**figures))
