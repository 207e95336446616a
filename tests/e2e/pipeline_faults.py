"""The faults: what is done to a pipeline, and how it is undone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from random import Random
from typing import NamedTuple

from lab.server import Server
from tests.e2e.pipeline import Pipeline
from tests.e2e.pipeline_writers import seal_znodes, write_large_znodes, write_many_at_once
from tests.watcher.watching import WatcherProcess
from zklake.errors import LakeError

Fault = Callable[[Pipeline, Random], AbstractContextManager[None]]


@contextmanager
def kill_watcher(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    pipeline.watcher.process.kill()
    yield
    pipeline.watcher.start()


@contextmanager
def stop_watcher(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    pipeline.watcher.process.stop(60)
    yield
    pipeline.watcher.start()


@contextmanager
def pause_watcher(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    process = pipeline.watcher.process
    process.pause()
    yield
    process.resume()


@contextmanager
def expire_session(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    process = pipeline.watcher.process
    process.pause()
    time.sleep(6)  # the session has four seconds
    yield
    process.resume()


@contextmanager
def take_over(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """A second watcher takes the log while the first still writes, and ends; the first is told."""
    first = pipeline.watcher
    second = WatcherProcess(
        first.zookeeper, first.bootstrap, pipeline.directory, cluster=first.cluster
    )
    yield
    time.sleep(3)
    second.process.kill()
    first.process.kill()
    first.start()


@contextmanager
def kill_stream(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    pipeline.end_stream()
    yield
    pipeline.stream = pipeline.start_stream()


@contextmanager
def pause_stream(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    stream = pipeline.stream
    stream.pause()
    yield
    stream.resume()


@contextmanager
def start_second_stream(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """It is refused as long as the first one lives."""
    second = pipeline.start_stream("second-stream.log")
    yield
    while second.is_alive():
        time.sleep(0.1)
    assert second.exit_code == LakeError.exit_code, second.tail()


@contextmanager
def kill_log_broker(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    (broker,) = pipeline.kafka.brokers
    broker.kill()
    yield
    broker.start(120)


@contextmanager
def pause_log_broker(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    (broker,) = pipeline.kafka.brokers
    broker.pause()
    yield
    broker.resume()


@contextmanager
def kill_zookeeper(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    server = _choose(pipeline, dice)
    server.kill()
    yield
    server.start(120)


@contextmanager
def pause_zookeeper(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    server = _choose(pipeline, dice)
    server.pause()
    yield
    server.resume()


@contextmanager
def cut_links(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    for proxy in pipeline.proxies:
        proxy.cut()
    yield


@contextmanager
def freeze_links(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """Connections stay open and carry nothing."""
    for proxy in pipeline.proxies:
        proxy.pause()
    yield
    for proxy in pipeline.proxies:
        proxy.resume()


@contextmanager
def slow_links(pipeline: Pipeline, dice: Random) -> Iterator[None]:
    """Replies come so late that reads pile up behind each other."""
    for proxy in pipeline.proxies:
        proxy.slow(dice.uniform(0.05, 0.3))
    yield
    for proxy in pipeline.proxies:
        proxy.slow(0)


class Part(NamedTuple):
    """What can be hurt, and how: one fault of a part at a time."""

    name: str
    faults: tuple[Fault, ...]


PARTS = (
    Part("watcher", (kill_watcher, stop_watcher, pause_watcher, expire_session, take_over)),
    Part("stream", (kill_stream, pause_stream, start_second_stream)),
    Part("log", (kill_log_broker, pause_log_broker)),
    Part("zookeeper", (kill_zookeeper, pause_zookeeper)),
    Part("links", (cut_links, freeze_links, slow_links)),
    Part("writers", (seal_znodes, write_large_znodes, write_many_at_once)),
)
FAULTS = tuple(fault for part in PARTS for fault in part.faults)


def choose_faults(dice: Random, wanted: Fault) -> list[Fault]:
    """That one, and as likely as not others, each of another part."""
    others = [part for part in PARTS if wanted not in part.faults]
    more = dice.sample(others, dice.choice((0, 1, 1, 2)))
    return [wanted, *(dice.choice(part.faults) for part in more)]


def inject(pipeline: Pipeline, dice: Random, faults: list[Fault]) -> None:
    """All at once, for some seconds; undone in the other order."""
    with ExitStack() as stack:
        for fault in faults:
            stack.enter_context(fault(pipeline, dice))
        time.sleep(dice.uniform(0.5, 4))


def _choose(pipeline: Pipeline, dice: Random) -> Server:
    return dice.choice(pipeline.zookeeper.servers)
