"""`zklake lab`: a real Kafka cluster in ZooKeeper mode on this machine, until Ctrl-C."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from zklake.cli import lab_consume, lab_story

if TYPE_CHECKING:
    from lab.cluster import Cluster

app = typer.Typer(
    help="Run a real Kafka cluster in ZooKeeper mode on this machine.", no_args_is_help=True
)
app.command("consume")(lab_consume.consume)
app.command("produce")(lab_consume.produce)
app.command("story")(lab_story.story)


@app.callback()
def lab() -> None:
    """Run a real Kafka cluster in ZooKeeper mode on this machine."""


@app.command()
def up(
    *,
    brokers: int = typer.Option(1, min=1, help="Number of Kafka brokers."),
    zookeepers: int = typer.Option(
        1, min=1, help="Number of ZooKeeper servers: 1, or 3 for an ensemble."
    ),
    zookeeper_version: str = typer.Option("3.9.3", help="3.9.3, 3.8.4 or 3.4.10."),
    chroot: str = typer.Option("", help="Kafka's chroot in ZooKeeper, such as /kafka."),
    directory: Path | None = typer.Option(
        None, "--dir", help="Keep data and logs here (default: a temporary directory, removed)."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one line of JSON."),
) -> None:
    """Start a cluster, print its addresses, and keep it until Ctrl-C."""
    signal.signal(signal.SIGTERM, _interrupt)
    from lab.cluster import Cluster

    started_at = time.monotonic()
    cluster = Cluster(
        brokers,
        zookeepers,
        zookeeper_version=zookeeper_version,
        chroot=chroot,
        directory=directory,
        say=_say,
    )
    try:
        with cluster:
            _say(f"ready after {time.monotonic() - started_at:.1f} s; Ctrl-C stops everything")
            _show(cluster.describe(), as_json)
            _watch(cluster)
    except KeyboardInterrupt:
        _say("the lab is stopped")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _watch(cluster: Cluster) -> None:
    """Say when a server ends; whether that matters is for the one who killed it to judge."""
    alive = set(cluster.servers)
    while True:
        time.sleep(0.5)
        for server in [server for server in alive if not server.is_alive()]:
            alive.discard(server)
            _say(f"{server.name} (pid {server.pid}) exited; log: {server.log_file}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _show(cluster: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(cluster), flush=True)
        return
    print(f"zookeeper  {cluster['zookeeper']}")
    print(f"bootstrap  {cluster['bootstrap']}")
    print(f"directory  {cluster['directory']}")
    for server in cluster["servers"]:
        print(f"{server['name']:<13} {server['address']:<16} pid {server['pid']}")
    sys.stdout.flush()
