"""What a shell may complete: names of tables, groups, topics, clusters and rules.

Somebody has pressed Tab: an answer within some seconds, or none. Nothing is ever said, and names
that a shell would take for several words are left out.
"""

from __future__ import annotations

import io
import signal
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from delta_tables.asking.lakes import Lake
    from zklake.settings.models import Settings

_PATIENCE_S = 3.0
_MOST = 200
_Complete = Callable[[typer.Context, str], list[str]]


def _silently(find: Callable[[typer.Context], Iterable[str]]) -> _Complete:
    """Only names that begin as somebody has begun; none when anything fails or takes long."""

    # No `wraps`: typer goes by the signature.
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            signal.signal(signal.SIGALRM, _give_up)
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
            with redirect_stderr(io.StringIO()):
                names = sorted({name for name in find(ctx) if name.startswith(incomplete)})
        except Exception:
            return []
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return [name for name in names if _is_one_word(name)][:_MOST]

    return complete


def _give_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def _is_one_word(name: str) -> bool:
    return name.isprintable() and not set(name) & set(" \t'\"\\$`:;&|<>()*?!")


@_silently
def complete_table(ctx: typer.Context) -> Iterable[str]:
    """Tables and views."""
    from delta_tables.catalog import TABLES
    from delta_tables.views import VIEWS

    return [*(table.name for table in TABLES), *(view.name for view in VIEWS)]


@_silently
def complete_state_table(ctx: typer.Context) -> Iterable[str]:
    """Tables whose rows have a time of validity."""
    from delta_tables.catalog import TABLES

    return [table.name for table in TABLES if table.is_interval]


@_silently
def complete_stored_table(ctx: typer.Context) -> Iterable[str]:
    """Tables, without views."""
    from delta_tables.catalog import TABLES

    return [table.name for table in TABLES]


@_silently
def complete_group(ctx: typer.Context) -> Iterable[str]:
    """Groups that have members or offsets now."""
    return _read_names(ctx, "group_id", ("consumer_membership", "consumer_offsets"))


@_silently
def complete_topic(ctx: typer.Context) -> Iterable[str]:
    """Topics there are now."""
    return _read_names(ctx, "topic", ("topics",))


@_silently
def complete_cluster(ctx: typer.Context) -> Iterable[str]:
    """Clusters in the lake."""
    from delta_tables.asking.lakes import EVERY, find_lakes

    return [lake.cluster for lake in find_lakes(_load(ctx).lake.path, EVERY)]


@_silently
def complete_rule(ctx: typer.Context) -> Iterable[str]:
    """Rules of the settings, and every kind of rule."""
    from zklake.settings.alert_rules import RULES

    return [*(rule.title for rule in _load(ctx).alerts.rules), *(rule().kind for rule in RULES)]


def _read_names(ctx: typer.Context, column: str, tables: Iterable[str]) -> list[str]:
    from delta_tables.reading import open_table, query_rows

    names: list[str] = []
    for lake in _find_lakes(ctx):
        for table in tables:
            opened = open_table(lake.path, lake.cluster, table)
            # Of each cluster and table only the files of open rows.
            sql = f"SELECT DISTINCT {column} AS name FROM {table} WHERE is_open"  # noqa: S608
            names += [row["name"] for row in query_rows({table: opened}, sql)] if opened else []
    return names


def _find_lakes(ctx: typer.Context) -> list[Lake]:
    from delta_tables.asking.lakes import find_lakes, is_remote

    settings = _load(ctx)
    # Nobody waits for an object store after a Tab.
    if is_remote(settings.lake.path):
        return []
    return find_lakes(settings.lake.path, ctx.params.get("cluster") or settings.cluster)


def _load(ctx: typer.Context) -> Settings:
    from zklake.cli.asking import load_asked
    from zklake.cli.options import collect_flags

    given, config = ctx.params, ctx.params.get("config")
    flags = collect_flags(lake=given.get("lake"))
    return load_asked(Path(config) if config else None, flags, cluster=given.get("cluster"))
