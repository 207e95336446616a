"""`zklake watch`: the watcher daemon."""

from __future__ import annotations

from typing import Annotated

import typer

from zklake.cli.options import Cluster, Config, Log, Watched, ZooKeeper, collect_flags


def watch(
    *,
    zookeeper: ZooKeeper = None,
    log: Log = None,
    watched: Watched = None,
    cluster: Cluster = None,
    config: Config = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of /healthz, /readyz and /metrics."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print events; write nothing.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Scan, publish the differences, then exit.")
    ] = False,
    resnapshot: Annotated[
        bool,
        typer.Option("--resnapshot", help="Publish a base frame (for a running watcher: SIGUSR1)."),
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Take over at once from another watcher.")
    ] = False,
    accept_cluster: Annotated[
        bool,
        typer.Option("--accept-cluster", help="Continue with a tree that has another /cluster/id."),
    ] = False,
) -> None:
    """Publish every znode create, delete and data change to the log."""
    from watcher.assembly import build_daemon
    from zklake.logs import configure_logging
    from zklake.settings.load import load_settings

    flags = collect_flags(zookeeper=zookeeper, log=log, watched=watched, cluster=cluster)
    if http is not None:
        flags["watcher.http"] = http
    settings = load_settings(config, flags)
    configure_logging()
    build_daemon(
        settings,
        dry_run=dry_run,
        once=once,
        resnapshot=resnapshot,
        take_over=take_over,
        accept_cluster=accept_cluster,
        serves=http is not None or not (dry_run or once),
    ).run()
