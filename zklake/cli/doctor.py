"""`zklake doctor`: what this machine lacks, and how to mend it."""

from __future__ import annotations

import json

import typer

from zklake.cli.findings import print_findings
from zklake.cli.options import AsJson, Config, Lake, Log, Watched, ZooKeeper, collect_flags


def doctor(
    *,
    zookeeper: ZooKeeper = None,
    log: Log = None,
    watched: Watched = None,
    lake: Lake = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check Java, versions, JARs, disk, ports, and the configured servers."""
    from zklake.doctor import Finding, Subject, choose_subject, examine
    from zklake.errors import SettingsError
    from zklake.jars import open_cache
    from zklake.settings.load import load_with_origins

    flags = collect_flags(zookeeper=zookeeper, log=log, watched=watched, lake=lake)
    try:
        findings = examine(choose_subject(open_cache(), load_with_origins(config, flags)))
    except SettingsError as error:
        wrong = Finding(
            "settings", "fail", str(error), "correct them; docs/settings.md lists all settings"
        )
        findings = [wrong, *examine(Subject(open_cache()))]
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        print_findings(findings)
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)
