"""`zklake run`: the whole product on an embedded cluster, in one command."""

from __future__ import annotations

import fcntl
import json
import shutil
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from zklake.cli.options import AsJson
from zklake.errors import LabError

if TYPE_CHECKING:
    from lab.product import Product


def run(
    *,
    brokers: Annotated[int, typer.Option(min=2, help="Kafka brokers of the lab.")] = 3,
    directory: Annotated[
        Path, typer.Option("--dir", help="Data, logs and the lake; emptied at the start.")
    ] = Path(".zklake/run"),
    once: Annotated[
        bool, typer.Option("--once", help="Tell the story once, then end everything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start a Kafka cluster, the watcher and the stream; kill a broker and show its history."""
    signal.signal(signal.SIGTERM, _interrupt)
    from lab.cluster import Cluster
    from lab.first_light import tell_first_light
    from lab.product import Product
    from lab.shop import Shop

    lock = _lock(directory.absolute())
    place = _empty(directory)
    started_at = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - started_at:6.1f} s] {line}", file=sys.stderr, flush=True)

    cluster = Cluster(brokers, directory=place / "cluster", say=say)
    try:
        shop = Shop(cluster, place, say=say)
        with cluster, shop, Product(cluster, place, say=say) as product:
            say("the first rows are on their way")
            rows = tell_first_light(cluster, product, say, lambda r: _show(r, to_stderr=as_json))
            if as_json:
                print(json.dumps(rows, default=str), flush=True)
            if not once:
                _stay(product, say)
    except KeyboardInterrupt:
        say("everything is stopped")
    finally:
        lock.close()


def _stay(product: Product, say: Any) -> None:
    say("everything runs; Ctrl-C ends it. Ask it from another terminal:")
    question = '"SELECT * FROM broker_membership"'
    say(f"  {Path(sys.argv[0]).name} sql {question} --lake {product.lake} --cluster {product.name}")
    while True:
        time.sleep(1)
        for part in product.parts:
            part.find_obstacle()


def _show(rows: list[dict[str, Any]], *, to_stderr: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in rows[0] if rows else ():
        table.add_column(name)
    for row in rows:
        table.add_row(*map(_write, row.values()))
    Console(stderr=to_stderr).print(table)


def _write(value: Any) -> str:
    from datetime import datetime

    if isinstance(value, datetime):
        return value.strftime("%H:%M:%S.%f")[:-3] + "Z"
    return "" if value is None else str(value)


def _lock(place: Path) -> IO[str]:
    """Hold the directory while we use it: another run would empty it under our feet."""
    place.parent.mkdir(parents=True, exist_ok=True)
    lock = place.with_name(f"{place.name}.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise LabError(
            f"another `zklake run` uses {place}: stop it first, or give this one its own --dir"
        ) from error
    return lock


def _empty(directory: Path) -> Path:
    """Our own directory, without what an earlier run left in it."""
    place = directory.absolute()
    if place.exists() and not (place / ".zklake-run").exists() and any(place.iterdir()):
        raise LabError(f"{place} is not a directory of `zklake run`: give another one with --dir")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / ".zklake-run").touch()
    return place


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
