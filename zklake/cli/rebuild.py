"""`zklake rebuild`: make interval tables anew from the events that the lake holds."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags
from zklake.cli.shell_completion import complete_state_table
from zklake.cli.stream import find_lake
from zklake.events.topics import name_topics

if TYPE_CHECKING:
    from zklake.settings.models import Settings

Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TABLE]…",
        help="Tables to rebuild (default: all that can be rebuilt).",
        autocompletion=complete_state_table,
        show_default=False,
    ),
]

# Spark must start first: only of so many times the records of a batch in tasks it is worth it.
WORTH_A_START = 10


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
    from delta_tables.asking.lakes import is_remote
    from streaming.event_tasks import EventTasks
    from streaming.fold.rules import read_rules
    from streaming.lake.lake import Lake as WrittenLake
    from streaming.lake.lease import hold_lease
    from streaming.rebuild import Tasks, check_names, rebuild
    from zklake.progress import show_progress

    names = check_names(tables)
    lake = WrittenLake(find_lake(settings), settings.cluster)
    topic, options = name_topics(settings.cluster).events, settings.stream
    with hold_lease(lake.path, lake.cluster), closing(EventTasks(lake, options)) as run:
        # Spark knows object stores by other names and other keys: the driver reads them alone.
        large = WORTH_A_START * options.task_records
        tasks = None if is_remote(lake.path) else Tasks(run, large)
        with show_progress() as shown:
            return rebuild(
                lake,
                names,
                topic,
                shown.say,
                rules=read_rules(settings),
                tasks=tasks,
                count=partial(shown.show, "events folded"),
            )
