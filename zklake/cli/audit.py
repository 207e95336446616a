"""`zklake audit`: what the tables say, held against ZooKeeper and the log themselves."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, Log, ZooKeeper, collect_flags

if TYPE_CHECKING:
    from auditor.report import AuditReport


def audit(
    *,
    zookeeper: ZooKeeper = None,
    log: Log = None,
    cluster: Cluster = None,
    lake: Lake = None,
    config: Config = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on, round after round (audit.interval_s).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Hold the tables against ZooKeeper's tree and the log. Exit code 1: they contradict."""
    from auditor.daemon import Daemon, run_round
    from zklake.logs import configure_logging, escape
    from zklake.settings.load import load_settings

    flags = collect_flags(zookeeper=zookeeper, log=log, cluster=cluster, lake=lake)
    settings = load_settings(config, flags)
    configure_logging()
    if follow:
        Daemon(settings).run()
        return
    report = run_round(settings, lambda line: print(escape(line), file=sys.stderr))
    print_report(report, as_json)
    if report.findings:
        raise typer.Exit(1)


def print_report(report: AuditReport, as_json: bool) -> None:
    """The counts by table, and each finding."""
    import msgspec

    from zklake.cli.answers import lay_out
    from zklake.logs import escape

    if as_json:
        print(msgspec.json.format(msgspec.json.encode(report), indent=1).decode())
        return
    print(
        f"{escape(report.cluster)}: {report.znodes} znodes and {report.records} records, "
        f"up to seq {report.watermark}"
    )
    if report.gaps:
        reasons = ", ".join(report.gaps)
        print(f"the watcher could not see ({reasons}): the tree is looked at in the next round")
    if report.unreadable:
        print(f"not readable for this session: {escape(', '.join(report.unreadable))}")
    if report.undecided:
        print(f"{report.undecided} znodes changed at every look: nothing is said of them")
    if not report.findings:
        print("0 unexplained, 0 phantom")
        return
    rows = [(table, verdict, str(n)) for (table, verdict), n in sorted(report.count().items())]
    print(*lay_out(("table", "verdict", "count"), rows), sep="\n")
    for finding in report.findings:
        print(escape(f"{finding.verdict}: {finding.says}"))
