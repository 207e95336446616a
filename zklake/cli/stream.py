"""`zklake stream`: fold the log into Delta tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Config, Lake, Log, collect_flags
from zklake.events.topics import name_topics

if TYPE_CHECKING:
    from streaming.daemon import Totals
    from streaming.query import Stream
    from zklake.settings.models import Settings

Clusters = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME[,…]",
        help="Name of the watched cluster; several: a,b. (ZKLAKE_CLUSTER)",
        show_default=False,
    ),
]
Once = Annotated[
    bool,
    typer.Option("--once", help="Process everything in the log, then exit.", show_default=False),
]
TakeOver = Annotated[
    bool,
    typer.Option("--take-over", help="Take over the lake from another stream.", show_default=False),
]
AcceptLog = Annotated[
    bool,
    typer.Option(
        "--accept-log", help="Continue with a log that was re-created.", show_default=False
    ),
]


def stream(
    *,
    log: Log = None,
    cluster: Clusters = None,
    lake: Lake = None,
    once: Once = False,
    take_over: TakeOver = False,
    accept_log: AcceptLog = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Write the log of one or more clusters into Delta tables, until stopped."""
    from zklake.logs import configure_logging
    from zklake.settings.load import load_settings

    flags = collect_flags(log=log, lake=lake)
    if cluster is not None:
        flags["stream.clusters"] = [name.strip() for name in cluster.split(",")]
    settings = load_settings(config, flags)
    configure_logging()
    plans = plan_streams(settings, accept_log=accept_log)
    if once:
        _fold_once(plans, settings, take_over=take_over, as_json=as_json)
    else:
        _serve(plans, settings, take_over=take_over)


def plan_streams(settings: Settings, *, accept_log: bool = False) -> list[Stream]:
    """What the settings say about the logs and the lake."""
    from streaming.fold.rules import read_rules
    from streaming.log.kafka_client import translate_options
    from streaming.query import Stream

    translate_options(settings.log.client)  # what it refuses is refused before Spark starts
    lake = find_lake(settings)
    return [
        Stream(
            bootstrap=settings.log.bootstrap,
            topic=name_topics(cluster).events,
            cluster=cluster,
            lake=lake,
            max_records=settings.stream.max_offsets_per_trigger,
            large=settings.stream.task_records,
            trigger_ms=settings.stream.trigger_ms,
            checkpoint_parent=settings.stream.checkpoint,
            client=settings.log.client,
            accept_log=accept_log,
            rules=read_rules(settings),
        )
        for cluster in settings.stream.clusters or (settings.cluster,)
    ]


def find_lake(settings: Settings) -> str:
    """Where the lake lies; Spark takes a relative path to be one of its own working directory's."""
    path = settings.lake.path
    return path if "://" in path else str(Path(path).absolute())


def _serve(plans: list[Stream], settings: Settings, *, take_over: bool) -> None:
    from streaming.daemon import Daemon
    from streaming.maintenance.retention import read_policy
    from streaming.maintenance.upkeep import Upkeep
    from streaming.metrics import StreamMetrics
    from streaming.session import start_spark
    from streaming.worker import Worker

    options, metrics = settings.stream, StreamMetrics()
    policy, is_on = (
        read_policy(settings.maintenance, settings.lag.full_hours),
        settings.maintenance.enabled,
    )
    workers = [
        Worker(
            plan,
            metrics,
            take_over=take_over,
            lease_stale_s=options.lease_stale_s,
            stuck_after_s=options.stuck_after_s,
            upkeep=Upkeep(plan.lake, plan.cluster, policy, is_on=is_on),
        )
        for plan in plans
    ]
    Daemon(workers, metrics, options.http, lambda: start_spark(options)).run()


def _fold_once(plans: list[Stream], settings: Settings, *, take_over: bool, as_json: bool) -> None:
    from streaming.daemon import run_once
    from streaming.session import start_spark
    from zklake.errors import ZklakeError

    failed: list[ZklakeError] = []
    spark = start_spark(settings.stream)
    try:
        for plan in plans:
            try:
                _show(run_once(spark, plan, take_over=take_over), as_json=as_json)
            except ZklakeError as error:
                failed.append(error)
                if len(plans) > 1:
                    typer.echo(f"{plan.cluster}: {error}", err=True)
    finally:
        spark.stop()
    if failed:
        raise failed[0]


def _show(totals: Totals, *, as_json: bool) -> None:
    from zklake.phrases import format_count

    figures = {
        "batches": totals.batches,
        "events": totals.events,
        "quarantined": totals.quarantined,
        "lake": totals.stream.place,
    }
    if as_json:
        print(json.dumps(figures), flush=True)
    else:
        events = format_count(totals.events, "event")
        batches = format_count(totals.batches, "batch")
        print(f"wrote {events} in {batches} to {totals.stream.place}")
