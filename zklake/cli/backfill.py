"""`zklake backfill`: ZooKeeper's own transaction logs and snapshots become a lake's past."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags
from zklake.times import MOMENT_FORMS

if TYPE_CHECKING:
    from zklake.settings.models import Settings

TxnLog = Annotated[
    list[Path],
    typer.Option(
        "--txnlog",
        metavar="DIR",
        help="dataLogDir or dataDir of a ZooKeeper server, or a copy; once per server.",
        show_default=False,
    ),
]
Snapshots = Annotated[
    list[Path] | None,
    typer.Option(
        "--snapshots",
        metavar="DIR",
        help="dataDir, where the snapshots lie elsewhere than the logs; once per server.",
        show_default=False,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help=f"Begin with the newest snapshot before this time. {MOMENT_FORMS}.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="End at this time.", show_default=False),
]
Chroot = Annotated[
    str | None,
    typer.Option(
        "--chroot",
        metavar="PATH",
        help="Chroot of the Kafka cluster (default: that of ZKLAKE_ZOOKEEPER).",
        show_default=False,
    ),
]
Heal = Annotated[
    bool,
    typer.Option("--heal", help="Fill in values that the watcher missed, instead of the past."),
]


def backfill(
    *,
    txnlog: TxnLog,
    snapshots: Snapshots = None,
    since: Since = None,
    until: Until = None,
    chroot: Chroot = None,
    heal: Heal = False,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Read ZooKeeper's transaction logs and snapshots into the lake; stop the stream first."""
    from watcher.txnlog.opening import HistoryRequest
    from zklake.cli.backfill_work import backfill_lake
    from zklake.cli.heal_work import heal_lake
    from zklake.errors import SettingsError
    from zklake.logs import configure_logging
    from zklake.settings.load import load_settings

    settings = load_settings(config, collect_flags(lake=lake, cluster=cluster))
    configure_logging()
    inner = _find_chroot(settings) if chroot is None else chroot.rstrip("/")
    wanted = HistoryRequest(txnlog, snapshots or (), inner, _read_time(since))
    if heal and (since, until) != (None, None):
        raise SettingsError("--heal takes neither --since nor --until: it heals what it can find")
    summary = (
        heal_lake(settings, wanted) if heal else backfill_lake(settings, wanted, _read_time(until))
    )
    print(json.dumps(summary.list_figures()) if as_json else summary.format())


def _read_time(text: str | None) -> int | None:
    from delta_tables.asking.moments import parse_moment

    if text is None:
        return None
    return round(parse_moment(text, datetime.now(UTC)).at.timestamp() * 1000)


def _find_chroot(settings: Settings) -> str:
    """That of the connect string, which ends with it."""
    _, slash, chroot = settings.zookeeper.connect.partition("/")
    return (slash + chroot).rstrip("/")
