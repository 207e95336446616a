"""`zklake status`: can it be trusted now? Parts, freshness and gaps, in one screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zklake.cli.asking import load_asked
from zklake.cli.findings import print_findings
from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags

if TYPE_CHECKING:
    from zklake.cli.status_checks import Deployment
    from zklake.settings.models import Settings


def status(
    *,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show whether watcher, stream, lake and dashboard are healthy and fresh; exit 1 if not."""
    from zklake.cli.status_checks import check_all, read_now
    from zklake.times import write_time

    place = choose_place(load_asked(config, collect_flags(lake=lake, cluster=cluster)))
    now = read_now()
    findings = check_all(place, now)
    is_well = all(finding.state != "fail" for finding in findings)
    if as_json:
        said: dict[str, Any] = {
            "cluster": place.cluster,
            "at": write_time(now),
            "is_healthy": is_well,
            "checks": [finding._asdict() for finding in findings],
        }
        print(json.dumps(said, indent=1))
    else:
        print(f"{place.cluster} at {write_time(now)}: {'healthy' if is_well else 'NOT healthy'}")
        print_findings(findings)
    if not is_well:
        raise typer.Exit(1)


def choose_place(settings: Settings) -> Deployment:
    """Where the settings, or the run that the lake is part of, say that everything is."""
    from zklake.cli.status_checks import Deployment, choose_urls
    from zklake.supervision.run_directory import read_addresses

    page, path = settings.dashboard, settings.lake.path
    run = {} if "://" in path else read_addresses(Path(path).absolute().parent)
    listens = {
        "watcher": run.get("watch") or page.watcher_http or settings.watcher.http,
        "stream": run.get("stream") or page.stream_http or settings.stream.http,
        "dashboard": run.get("dashboard") or page.http,
        "alerts": settings.alerts.http,
        "audit": run.get("audit") or settings.audit.http,
    }
    has_tls = bool(run.get("has_tls", page.tls_cert))
    urls = choose_urls(listens, has_tls=has_tls)
    return Deployment(urls, path, settings.cluster, page.stale_after_s)
