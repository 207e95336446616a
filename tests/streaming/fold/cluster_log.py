"""A log of a group, its commits, and the brokers it reads from; and members that come and go."""

from __future__ import annotations

import json
import random

from tests.streaming.fold.group_log import GROUP, GroupLog
from zklake.events.samples import LogEnd, LogEnds, Round


class ClusterLog(GroupLog):
    """Also with commits, log ends, brokers and states of partitions."""

    def commit(self, offset: int, partition: int = 0, **fields: object) -> None:
        path = f"/consumers/{GROUP}/offsets/t/{partition}"
        self.put(
            "set" if path in self._versions else "create", "offset", path, str(offset), **fields
        )

    def sample(self, *ends: int, after_ms: int = 10) -> None:
        entries = tuple(LogEnd("t", p, 1, 0, end) for p, end in enumerate(ends))
        ended = Round(len(self.events) - 1, brokers_answered=(1,))
        self.say("log_ends", after_ms, log_ends=LogEnds(entries, ended))

    def register(self, broker: int) -> None:
        data = json.dumps({"version": 4, "host": "h", "port": 9092, "endpoints": []})
        self.put("create", "broker", f"/brokers/ids/{broker}", data, session=900 + broker)

    def lead(self, partition: int, leader: int, *isr: int, after_ms: int = 10) -> None:
        state = {"version": 1, "leader": leader, "isr": isr, "leader_epoch": 1}
        path = f"/brokers/topics/t/partitions/{partition}/state"
        op = "set" if path in self._versions else "create"
        data = json.dumps({**state, "controller_epoch": 1})
        self.put(op, "partition_state", path, data, after_ms=after_ms)

    def assign(self, *replicas: list[int]) -> None:
        data = {"version": 1, "partitions": {str(p): each for p, each in enumerate(replicas)}}
        self.put("create", "topic", "/brokers/topics/t", json.dumps(data))


def leave_in_turn(seed: int, length: int) -> ClusterLog:
    """Members of a group of one join, read and leave: in order, by kill -9, or unseen."""
    dice, log = random.Random(f"leave/{seed}"), ClusterLog()
    log.topic("t", 2)
    ends = [0, 0]
    while len(log.events) < length:
        member = f"g_{len(log.events)}"
        log.join(member, after_ms=dice.choice((10, 3_000)))
        log.claim(member, 0, 1)
        for _ in range(dice.randrange(1, 5)):
            ends = [end + dice.choice((0, 7)) for end in ends]
            log.sample(*ends, after_ms=dice.choice((100, 1_000, 3_000)))
            for partition in range(2):
                if dice.random() < 0.7:
                    log.commit(ends[partition] - dice.choice((0, 0, 3)), partition)
        if dice.random() < 0.5:
            ends = [end + 5 for end in ends]
            log.sample(*ends, after_ms=4_000)
        if dice.random() < 0.1:
            log.gap()
            log.in_sync()
        if dice.random() < 0.4:
            log.commit(ends[0], 0, after_ms=700)
            log.commit(ends[1], 1)
            log.now_ms += dice.choice((20, 400, 1_500))
        else:
            log.now_ms += dice.choice((6_000, 30_000, 130_000))
        log.leave(member, 0, 1, owners_first=dice.random() < 0.5)
    return log
