"""`zklake erase`: a value that should never have been published is gone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, Log, collect_flags
from zklake.cli.stream import find_lake

if TYPE_CHECKING:
    from streaming.erasure.erase import Erasure
    from zklake.settings.models import Settings

ValueFile = Annotated[
    Path | None,
    typer.Option(
        "--value-file",
        metavar="FILE",
        help="File that holds the value (default: stdin). Never give it as an argument.",
        show_default=False,
    ),
]
ZnodePath = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="ZNODE", help="Every value that this znode has had.", show_default=False
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", help="Of JSON: every value of this key.", show_default=False
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Only count what holds the value.", show_default=False),
]
LakeOnly = Annotated[
    bool, typer.Option("--lake-only", help="Leave the log as it is.", show_default=False)
]


def erase(
    *,
    value_file: ValueFile = None,
    path: ZnodePath = None,
    key: Key = None,
    dry_run: DryRun = False,
    lake_only: LakeOnly = False,
    log: Log = None,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Erase a value from the log, the tables and their old files; stop the stream first."""
    from zklake.logs import configure_logging
    from zklake.settings.load import load_settings

    settings = load_settings(config, collect_flags(log=log, lake=lake, cluster=cluster))
    configure_logging()
    values = find_values(settings, value_file, path, key)
    erasure = plan_erasure(settings, values, lake_only=lake_only)
    shown = []
    for step in erasure.survey() if dry_run else erasure.erase():
        shown.append(asdict(step))
        if not as_json:
            print(f"{step.place}: {step.says}: {step.count}", flush=True)
    if as_json:
        print(json.dumps(shown, indent=1))


def find_values(
    settings: Settings, file: Path | None, path: str | None, key: str | None
) -> set[str]:
    """The values to erase: of a znode or a key, or the one in a file or on stdin."""
    from streaming.erasure import selection

    if path is None and key is None:
        return {_read_value(file)}
    if file is not None:
        from zklake.errors import SettingsError

        raise SettingsError("give --value-file, or --path and --key: not both")
    return selection.find_values(find_lake(settings), settings.cluster, path, key)


def plan_erasure(settings: Settings, values: Iterable[str], *, lake_only: bool) -> Erasure:
    """What the settings say of log and lake."""
    from streaming.erasure.erase import Erasure
    from streaming.erasure.kafka_log import KafkaLog
    from streaming.erasure.secret_values import SecretValues
    from streaming.fold.rules import read_rules

    beside = {"journal of alerts": settings.alerts.journal}
    if settings.dashboard.audit_log:
        beside["audit log"] = settings.dashboard.audit_log
    bootstrap, cluster = settings.log.bootstrap, settings.cluster
    return Erasure(
        SecretValues(values),
        find_lake(settings),
        cluster,
        None if lake_only else KafkaLog(bootstrap, settings.log.client, cluster),
        read_rules(settings),
        beside,
    )


def _read_value(file: Path | None) -> str:
    """A whole file, also of several lines, less the line break at its end."""
    from zklake.errors import SettingsError

    if file is None and sys.stdin.isatty():
        value: str = typer.prompt("Value to erase", hide_input=True, err=True)
        return value
    try:
        text = sys.stdin.read() if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the value cannot be read from {file or 'stdin'}: {error}") from error
    return text.removesuffix("\n").removesuffix("\r")
