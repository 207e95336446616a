"""Seeded logs of groups that rebalance, commit, lag and vanish, told with noise.

The same seed gives the same log. Time goes by in steps of nothing up to days.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.streaming.fold import group_life, kafka_life, leader_life
from tests.streaming.fold.cluster import Cluster, Step
from tests.streaming.fold.lateness import delay
from zklake.events.envelope import Event, Frame, Gap, Op

_STEPS_MS = (0, 0, 1, 5, 40, 120, 400, 900, 2_000, 2_600, 9_000, 10_000, 11_000, 31_000)
# Logs of a watcher that stands still now and then.
_LATE = 0.3
_LEAPS_MS = (60_000, 200_000, 320_000, 1_200_000, 3_700_000, 40_000_000, 700_000_000)


def generate(seed: int, name: str, length: int) -> list[Event]:
    """A log of about so many records, in order of seq, each once."""
    cluster = Cluster(Random(f"machines/{seed}"), name)
    _open_log(cluster)
    steps = (*group_life.STEPS, *kafka_life.STEPS, *leader_life.STEPS, *STEPS)
    while len(cluster.events) < length:
        _pass_time(cluster)
        _pick(cluster, steps)(cluster)
    events = list({event.seq: event for event in cluster.events}.values())
    dice = Random(f"late/{seed}")
    return delay(events, dice, 4_000) if dice.random() < _LATE else events


def _pick(cluster: Cluster, steps: tuple[tuple[Step, int], ...]) -> Step:
    return cluster.dice.choices([step for step, _ in steps], [often for _, often in steps])[0]


def _pass_time(cluster: Cluster) -> None:
    cluster.pass_time(cluster.dice.choice(_LEAPS_MS if cluster.chance(0.02) else _STEPS_MS))


def _open_log(cluster: Cluster) -> None:
    """A few topics, and perhaps a group, stand before anybody looks."""
    cluster.sight = "blind"
    for _ in range(cluster.dice.randrange(6)):
        _pick(cluster, group_life.STEPS)(cluster)
    cluster.sight = "watch"
    gap = Gap(str(cluster.seq + 1), "first_start")
    cluster.publish("gap", "/", gap=gap)
    _look(cluster, gap.id, "none")


def beat(cluster: Cluster) -> None:
    """A heartbeat or two; of each minute only the first is kept."""
    for _ in range(cluster.dice.choice((1, 1, 2))):
        cluster.pass_time(cluster.dice.choice((0, 500, 1000)))
        cluster.publish("heartbeat", "/")


def look_again(cluster: Cluster) -> None:
    """The daily frame, with nothing hidden."""
    _look(cluster, str(cluster.seq + 1), "model")


def _look(cluster: Cluster, frame_id: str, base: Any) -> None:
    cluster.publish("frame_begin", "/", frame=Frame(id=frame_id))
    for path in sorted(cluster.tree):
        if cluster.chance(0.03):
            _pick(cluster, (*group_life.STEPS, *kafka_life.STEPS))(cluster)
        if znode := cluster.tree.get(path):
            cluster.tell("read", path, znode, znode.mzxid, "scan")
    cluster.publish("in_sync", "/", frame=Frame(id=frame_id, base=base))
    cluster.known = dict(cluster.tree)


def miss_some(cluster: Cluster) -> None:
    """A gap: things go on unseen; then a resync against the model, or a frame without one."""
    gap = Gap(str(cluster.seq + 1), "disconnected", from_ms=cluster.now_ms - 10)
    cluster.publish("gap", "/", gap=gap)
    cluster.sight = "blind"
    for _ in range(cluster.dice.randrange(7)):
        _pass_time(cluster)
        _pick(cluster, group_life.STEPS)(cluster)
    cluster.sight = "watch"
    if cluster.chance(0.3):
        kafka_life.sample(cluster)
    if cluster.chance(0.5):
        _look(cluster, gap.id, "none")
        return
    _resync(cluster)
    cluster.publish("in_sync", "/", frame=Frame(id=gap.id, base="model"))


def _resync(cluster: Cluster) -> None:
    for path in sorted({*cluster.known, *cluster.tree}):
        known, znode = cluster.known.get(path), cluster.tree.get(path)
        is_other = known is not None and znode is not None and known.czxid != znode.czxid
        if known is not None and (znode is None or is_other):
            cluster.tell("delete", path, known, None, "resync")
        op: Op = "create" if known is None or is_other else "set"
        if znode is not None and (op == "create" or (known and known.version != znode.version)):
            cluster.tell(op, path, znode, znode.mzxid, "resync")


def lose_records(cluster: Cluster) -> None:
    """Some records are missing from the log itself."""
    before_seq, before_ms = cluster.seq, cluster.now_ms
    cluster.sight = "lost"
    _pick(cluster, group_life.STEPS)(cluster)
    cluster.sight = "watch"
    cluster.miss(before_seq, before_ms)


def grow(cluster: Cluster) -> None:
    """Topics are written, most with more partitions; Kafka's groups learn of it, or not yet."""
    for _ in range(cluster.dice.choice((1, 3))):
        group_life.change_topic(cluster)
    for _ in range(cluster.dice.choice((0, 2, 4))):
        kafka_life.change_group(cluster)


STEPS: tuple[tuple[Step, int], ...] = (
    (beat, 12),
    (grow, 2),
    (look_again, 1),
    (miss_some, 1),
    (lose_records, 1),
)
