"""`zklake jars`: fetch, verify and name the JARs of jars.lock, and rebuild it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from zklake.cli.options import AsJson

app = typer.Typer(help="Fetch and verify the JARs in jars.lock.", no_args_is_help=True)

Sets = Annotated[list[str] | None, typer.Argument(metavar="[SET]...", show_default="all sets")]
IvySettings = Annotated[
    Path | None,
    typer.Option("--ivy-settings", help="Ivy settings file for a mirror. [ZKLAKE_IVY_SETTINGS]"),
]
OfflineDir = Annotated[
    Path | None,
    typer.Option("--offline-dir", help="Copy JARs from this directory. [ZKLAKE_JARS_OFFLINE_DIR]"),
]


@app.command()
def fetch(
    sets: Sets = None, ivy_settings: IvySettings = None, offline_dir: OfflineDir = None
) -> None:
    """Fetch missing JARs into the cache of this user."""
    from zklake import jars
    from zklake.jars.source import choose_source
    from zklake.phrases import format_count

    cache = jars.open_cache()
    for name, count in jars.fetch(sets or (), choose_source(offline_dir, ivy_settings)).items():
        print(f"{name}: {format_count(len(cache.jars(name)), 'JAR')}, {count} fetched")


@app.command()
def verify(sets: Sets = None, as_json: AsJson = False) -> None:
    """Check the hash of every JAR in the cache; fail if one is missing or wrong."""
    from zklake import jars
    from zklake.errors import JarError
    from zklake.jars.cache import explain_wrong

    cache = jars.open_cache()
    states = cache.verify(sets or ())
    if as_json:
        print(json.dumps([_as_record(state) for state in states], indent=2))
    else:
        for name in dict.fromkeys(state.set_name for state in states):
            good = [state.state == "ok" for state in states if state.set_name == name]
            print(f"{name}: {sum(good)} of {len(good)} JARs ok")
    if wrong := [state for state in states if state.state == "wrong"]:
        raise JarError("\n       ".join(explain_wrong(state) for state in wrong))
    for name in dict.fromkeys(state.set_name for state in states):
        cache.paths(name)


@app.command()
def path(set_name: Annotated[str, typer.Argument(metavar="SET")]) -> None:
    """Print the class path of a set."""
    from zklake import jars

    print(os.pathsep.join(str(jar) for jar in jars.paths(set_name)))


@app.command()
def lock(
    to: Annotated[
        Path | None, typer.Option("--to", help="The file to write.", show_default="jars.lock")
    ] = None,
    ivy_settings: IvySettings = None,
) -> None:
    """Rebuild jars.lock from the wanted list in zklake/jars/wanted.py."""
    from zklake.jars.location import find_lock
    from zklake.jars.lock import write_lock
    from zklake.jars.locksmith import make_lock
    from zklake.jars.progress import show_progress
    from zklake.jars.source import find_ivy_settings
    from zklake.phrases import format_count

    with show_progress() as progress:
        made = make_lock(progress, find_ivy_settings(ivy_settings))
    target = to or find_lock()
    write_lock(target, made)
    for name, jars in made.items():
        print(f"{name}: {format_count(len(jars), 'JAR')}")
    print(target)


def _as_record(state: Any) -> dict[str, Any]:
    return {
        "set": state.set_name,
        "coordinate": str(state.coordinate),
        "path": str(state.path),
        "state": state.state,
        "expected_sha256": state.expected_sha256,
        "actual_sha256": state.actual_sha256,
    }
