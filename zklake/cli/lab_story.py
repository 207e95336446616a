"""`zklake lab story`: a scripted history on a cluster of its own, with its ground truth."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from zklake.cli.options import AsJson

if TYPE_CHECKING:
    from lab.stories import Fact


def story(
    name: Annotated[str, typer.Argument(help="The story to run; `all` runs every story.")] = "",
    *,
    list_only: Annotated[bool, typer.Option("--list", help="List the stories.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed repeats the same actions.")] = 1,
    speed: Annotated[
        float, typer.Option(min=0.1, help="Speed factor: 2 halves every pause.")
    ] = 1.0,
    brokers: Annotated[int, typer.Option(min=3, help="Number of Kafka brokers.")] = 3,
    zookeeper_version: Annotated[str, typer.Option(help="3.9.3, 3.8.4 or 3.4.10.")] = "3.9.3",
    truth: Annotated[
        Path | None, typer.Option(help="Write the ground truth to this file, as lines of JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scripted history on a new cluster and print its ground truth: actions and results."""
    signal.signal(signal.SIGTERM, _interrupt)
    from lab.cluster import Cluster
    from lab.stories import BROKER_SETTINGS, STORIES, find_story, run_story

    if list_only or not name:
        _list({one.name: one.sentence for one in STORIES}, as_json)
        return
    wanted = STORIES if name == "all" else (find_story(name),)
    cluster = Cluster(
        brokers, zookeeper_version=zookeeper_version, settings=BROKER_SETTINGS, say=_say
    )
    with _Scroll(truth, as_json) as scroll, cluster:
        for one in wanted:
            seconds = run_story(cluster, one, seed, speed, scroll.write, say=_say)
            _say(f"{one.name}: finished in {seconds:.1f} s")


def _list(sentences: dict[str, str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(sentences))
        return
    for name, sentence in sentences.items():
        print(f"{name:<20} {sentence}")


class _Scroll:
    """Where the truth is written: stdout, and a file if one is named."""

    def __init__(self, path: Path | None, as_json: bool) -> None:
        self._file: TextIO | None = path.open("w") if path else None
        self._as_json = as_json

    def __enter__(self) -> _Scroll:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file:
            self._file.close()

    def write(self, fact: Fact) -> None:
        """One fact, as soon as it is known."""
        if self._file:
            print(fact.to_json(), file=self._file, flush=True)
        print(fact.to_json() if self._as_json else _describe(fact), flush=True)


def _describe(fact: Fact) -> str:
    at = time.strftime("%H:%M:%S", time.gmtime(fact.to_ms / 1000))
    fields = " ".join(f"{name}={value}" for name, value in fact.fields.items())
    return f"{at}.{fact.to_ms % 1000:03}Z {fact.fact} {fields}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
