"""`zklake lab consume` and `zklake lab produce`: an old ZooKeeper consumer, and messages for it."""

from __future__ import annotations

import signal
import sys
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import AsJson, Config, Watched, ZooKeeper, collect_flags
from zklake.cli.shell_completion import complete_group, complete_topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from zklake.settings.models import Settings


def consume(
    *,
    group: Annotated[str, typer.Option(help="The group to join.", autocompletion=complete_group)],
    topic: Annotated[
        list[str] | None,
        typer.Option(help="A topic to read. Repeatable.", autocompletion=complete_topic),
    ] = None,
    whitelist: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Read every topic that matches.")
    ] = None,
    blacklist: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Read every topic that does not match.")
    ] = None,
    streams: Annotated[int, typer.Option(min=1, help="Streams per topic.")] = 1,
    zookeeper: ZooKeeper = None,
    watched: Watched = None,
    consumer_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The id after `group_` (default: host-millis-hex)."),
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="range, roundrobin, roundrobin-0.8.2, floor or ceil.")
    ] = "range",
    reset: Annotated[
        str, typer.Option(help="Where a group without offsets starts: smallest or largest.")
    ] = "smallest",
    session_timeout_ms: Annotated[int, typer.Option(help="ZooKeeper session timeout.")] = 6_000,
    auto_commit_ms: Annotated[int, typer.Option(help="Interval between commits.")] = 60_000,
    commits: Annotated[
        bool, typer.Option("--commits/--no-commits", help="Write offsets to ZooKeeper.")
    ] = True,
    backoff_ms: Annotated[
        int, typer.Option(help="Wait after a failed attempt to rebalance.")
    ] = 2_000,
    max_retries: Annotated[int, typer.Option(min=1, help="Attempts per rebalance.")] = 4,
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Messages per second (default: no limit).")
    ] = None,
    messages: Annotated[bool, typer.Option("--messages", help="Print every message.")] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Consume as Kafka's old ZooKeeper consumer did (0.8-1.1), until Ctrl-C."""
    from lab.zookeeper_consumer.consumer import ZooKeeperConsumer
    from lab.zookeeper_consumer.options import ConsumerOptions
    from lab.zookeeper_consumer.reports import Report, format_json, format_line
    from lab.zookeeper_consumer.subscription import build_subscription

    settings = _load_settings(config, zookeeper, watched)
    show = format_json if as_json else format_line

    def print_report(report: Report) -> None:
        print(show(report), flush=True)

    options = ConsumerOptions(
        zookeeper=settings.zookeeper.connect,
        group=group,
        subscription=build_subscription(topic or (), whitelist, blacklist, streams),
        member_suffix=consumer_id,
        bootstrap=settings.watched.bootstrap,
        session_timeout_ms=session_timeout_ms,
        auto_commit_ms=auto_commit_ms,
        commits=commits,
        strategy=strategy,
        reset=reset,
        backoff_ms=backoff_ms,
        max_retries=max_retries,
        rate=rate,
        messages=messages,
    )
    consumer = ZooKeeperConsumer(options, print_report)
    _on_signal(consumer.ask_to_stop)
    consumer.run()


def produce(
    *,
    topic: Annotated[
        str, typer.Option(help="The topic to write to.", autocompletion=complete_topic)
    ],
    count: Annotated[
        int | None, typer.Option(min=1, help="Messages to send (default: until Ctrl-C).")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Messages per second (default: no limit).")
    ] = None,
    zookeeper: ZooKeeper = None,
    watched: Watched = None,
    config: Config = None,
) -> None:
    """Send numbered messages to a topic of the watched cluster."""
    from lab.zookeeper_consumer.producing import find_bootstrap
    from lab.zookeeper_consumer.producing import produce as send
    from zklake.phrases import format_count

    settings = _load_settings(config, zookeeper, watched)
    stopping = Event()
    _on_signal(stopping.set)
    bootstrap = settings.watched.bootstrap or find_bootstrap(settings.zookeeper.connect)
    sent = send(bootstrap, topic, count, rate, stopping=stopping)
    print(f"{format_count(sent, 'message')} sent to {topic}")


def _load_settings(config: Config, zookeeper: ZooKeeper, watched: Watched) -> Settings:
    from zklake.settings.load import load_settings

    return load_settings(config, collect_flags(zookeeper=zookeeper, watched=watched))


def _on_signal(stop: Callable[[], None]) -> None:
    """The first Ctrl-C or SIGTERM stops in order, the second at once."""
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            sys.exit(130)
        asked = True
        stop()

    signal.signal(signal.SIGINT, handle)
    signal.signal(signal.SIGTERM, handle)
