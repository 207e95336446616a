"""`zklake rebuild`: make interval tables anew from the events that the lake holds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags
from zklake.cli.stream import find_lake
from zklake.events.topics import name_topics

if TYPE_CHECKING:
    from zklake.settings.models import Settings

Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TABLE]…",
        help="Tables to rebuild (default: all that can be rebuilt).",
        show_default=False,
    ),
]


def rebuild(
    tables: Tables = None,
    *,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild tables from znode_events, one commit each; stop the stream first."""
    from zklake.logs import configure_logging
    from zklake.phrases import format_count
    from zklake.settings.load import load_settings

    settings = load_settings(config, collect_flags(lake=lake, cluster=cluster))
    configure_logging()
    counts = rebuild_tables(settings, tuple(tables or ()))
    if as_json:
        print(json.dumps(counts))
    else:
        for name, count in counts.items():
            print(f"{name}: {format_count(count, 'row')}")


def rebuild_tables(settings: Settings, tables: tuple[str, ...]) -> dict[str, int]:
    """Rebuild under the lake's lease; the number of rows by table."""
    from streaming.fold.rules import read_rules
    from streaming.lake.lake import Lake as WrittenLake
    from streaming.lake.lease import hold_lease
    from streaming.rebuild import check_names, rebuild

    names = check_names(tables)
    path, cluster = find_lake(settings), settings.cluster
    with hold_lease(path, cluster):
        lake, topic = WrittenLake(path, cluster), name_topics(cluster).events
        return rebuild(lake, names, topic, _say, read_rules(settings))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
