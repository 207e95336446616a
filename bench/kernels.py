"""CPU per event of the pure core: scripted messages through Chronicle and Release, no I/O at all.

The control is msgspec writing the very same events: the floor below which no watcher can get.
"""

from __future__ import annotations

import gc
from time import process_time

from bench.figures import Figure, ratio
from bench.stage import Stage
from bench.znodes import list_states, list_tree, make_state
from watcher.chronicle import Chronicle
from watcher.messages import CHANGED, CREATED, DELETED, OK, Connected, Message, Reply, WatchEvent
from watcher.messages import ZnodeStat as Stat
from watcher.release import Release
from watcher.sealing import Sealing
from watcher.tree import Tree
from zklake.events.envelope import Meta, decode, encode
from zklake.events.redaction import Redactor

# What one look into the inbox brings, when ZooKeeper is busy.
_CHUNK = 200
_HOT_CHUNK = 2_000
_RECORD_BYTES = 1 << 20

# Chunks of messages, as the core takes them.
Script = list[list[Message]]


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Microseconds of CPU per event, for a first scan and for several kinds of writes."""
    znodes, events, rounds = (5_000, 10_000, 3) if quick else (20_000, 40_000, 5)
    scan = script_scan(dict(list_tree(znodes)))
    plays: list[tuple[str, Script, Script]] = [
        ("first scan", [], scan),
        ("sets", scan, script_sets(events)),
        ("creates and deletes", scan, script_lives(events // 2)),
        ("one hot znode", scan, script_hot(events)),
    ]
    figures = []
    for name, before, script in plays:
        pairs = [_measure_pair(before, script) for _ in range(rounds)]
        ours, floor = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        figures += [
            ratio(f"{name}: CPU ÷ msgspec writing the same events", ours, floor),
            Figure(f"{name}: CPU per event", ours, "µs"),
            Figure(f"{name}: events per second of one core", [1e6 / us for us in ours], "/s"),
        ]
    return figures


def play(chronicle: Chronicle, script: Script) -> list[bytes]:
    """Everything the core does with the messages, batches cut as the loop cuts them."""
    records: list[bytes] = []
    for chunk in script:
        for message in chunk:
            chronicle.handle(message, 1_700_000_000_000)
        chronicle.take_requests()
        while (batch := chronicle.release.take()) is not None:
            records += batch.events
    return records


def start_chronicle() -> Chronicle:
    """A chronicle with the real redaction, at the start of a new log."""
    sealing = Sealing(Redactor(b"bench"), _RECORD_BYTES)
    chronicle = Chronicle(Release("bench", Meta("bench", 1, 0, 0), Tree(), sealing))
    chronicle.begin("first_start", 1_700_000_000_000)
    return chronicle


def _measure_pair(before: Script, script: Script) -> tuple[float, float]:
    chronicle = start_chronicle()
    play(chronicle, before)
    gc.collect()
    began_s = process_time()
    records = play(chronicle, script)
    ours_s = process_time() - began_s
    events = [decode(record) for record in records]
    began_s = process_time()
    for event in events:
        encode(event)
    floor_s = process_time() - began_s
    return 1e6 * ours_s / len(events), 1e6 * floor_s / len(events)


def script_scan(values: dict[str, bytes]) -> Script:
    """A connection, and the answers to every read of the scan, in the order it asks."""
    children: dict[str, list[str]] = {}
    for path in values:
        above, _, name = path.rpartition("/")
        children.setdefault(above or "/", []).append(name)
    values = {"/": b"", **values}
    chronicle = start_chronicle()
    script: Script = [[Connected(1, 30_000, "bench", recursive=True)]]
    while True:
        for message in script[-1]:
            chronicle.handle(message, 0)
        while chronicle.release.take() is not None:
            pass  # as when it is played: a scan waits for what nobody takes
        requests = chronicle.take_requests()
        if not requests:
            return script
        script.append([_answer(r.op, r.path, values, children) for r in requests])


def _answer(op: str, path: str, values: dict[str, bytes], children: dict[str, list[str]]) -> Reply:
    names = children.get(path, [])
    stat = Stat(1, 1, 0, 0, 0, len(names), 0, 0, len(values[path]), len(names), 1)
    if op == "get":
        return Reply("get", path, OK, 1, values[path], stat)
    if op == "children":
        return Reply("children", path, OK, 1, None, stat, names)
    return Reply("sync", path, OK, 1)


def script_sets(events: int) -> Script:
    """Writes going round the partition states, a chunk of events before a chunk of answers."""
    paths = list_states(2_000)
    script: Script = []
    for first in range(0, events, _CHUNK):
        events_: list[Message] = []
        read: list[Message] = []
        for number in range(first, first + _CHUNK):
            path, zxid = paths[number % len(paths)], 2 + number
            data, version = make_state(number), 1 + number // len(paths)
            stat = Stat(1, zxid, 0, 0, version, 0, 0, 0, len(data), 0, 1)
            events_.append(WatchEvent(zxid, CHANGED, path))
            read.append(Reply("get", path, OK, zxid, data, stat))
        script += [events_, read]
    return script


def script_hot(events: int) -> Script:
    """One znode written so fast that each read answers many events."""
    path, data = list_states(1)[0], make_state(1)
    script: Script = []
    for first in range(0, events, _HOT_CHUNK):
        last = first + _HOT_CHUNK
        stat = Stat(1, 1 + last, 0, 0, last, 0, 0, 0, len(data), 0, 1)
        script += [
            [WatchEvent(2 + number, CHANGED, path) for number in range(first, last)],
            [Reply("get", path, OK, 1 + last, data, stat)],
        ]
    return script


def script_lives(lives: int) -> Script:
    """Owner nodes of a consumer group that come and go."""
    script: Script = []
    for first in range(0, lives, _CHUNK):
        numbers = range(first, first + _CHUNK)
        paths = [f"/consumers/billing/owners/orders/{number}" for number in numbers]
        stats = [Stat(2 + n, 2 + n, 0, 0, 0, 0, 0, 7, 12, 0, 2 + n) for n in numbers]
        script += [
            [
                WatchEvent(stat.czxid, CREATED, path)
                for path, stat in zip(paths, stats, strict=True)
            ],
            [
                Reply("get", path, OK, stat.czxid, b"billing_h1-0", stat)
                for path, stat in zip(paths, stats, strict=True)
            ],
            [WatchEvent(2 + first + _CHUNK, DELETED, path) for path in paths],
        ]
    return script
