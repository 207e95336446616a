"""The options that mean the same in every command. Import-light: every command imports this.

def watch(zookeeper: ZooKeeper = None, log: Log = None, config: Config = None) -> None:
    settings = load_settings(config, collect_flags(zookeeper=zookeeper, log=log))
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zklake.cli.shell_completion import complete_cluster
from zklake.settings.names import SHORT_FORMS

# ZKLAKE_… of these is read by load_settings, which knows that flags win and names the origin.
ZooKeeper = Annotated[
    str | None,
    typer.Option(
        "--zookeeper",
        metavar="HOST:PORT[,…][/CHROOT]",
        help="ZooKeeper to watch. (ZKLAKE_ZOOKEEPER)",
        show_default=False,
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="BOOTSTRAP",
        help="Brokers of the Kafka cluster that stores the log. (ZKLAKE_LOG)",
        show_default=False,
    ),
]
Watched = Annotated[
    str | None,
    typer.Option(
        "--watched",
        metavar="BOOTSTRAP",
        help="Brokers of the watched cluster (default: those in /brokers/ids). (ZKLAKE_WATCHED)",
        show_default=False,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="Name of the watched cluster. (ZKLAKE_CLUSTER)",
        show_default=False,
        autocompletion=complete_cluster,
    ),
]
Lake = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="PATH",
        help="Where the Delta tables are. (ZKLAKE_LAKE)",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="TOML file with settings (default: ./zklake.toml if it exists). (ZKLAKE_CONFIG)",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", envvar="ZKLAKE_JSON", show_envvar=False, help="Print JSON. (ZKLAKE_JSON)"
    ),
]


def collect_flags(
    *,
    zookeeper: str | None = None,
    log: str | None = None,
    watched: str | None = None,
    cluster: str | None = None,
    lake: str | None = None,
) -> dict[str, object]:
    """The given options as flags for load_settings, by dotted key."""
    options = {
        "zookeeper": zookeeper,
        "log": log,
        "watched": watched,
        "cluster": cluster,
        "lake": lake,
    }
    return {SHORT_FORMS[name]: value for name, value in options.items() if value is not None}
