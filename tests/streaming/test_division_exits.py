"""How brokers left is told by all partitions: the same in tasks, where others make their rows."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tests.reference.fold.tables import fold_events
from tests.streaming.fold.cluster_log import ClusterLog
from tests.streaming.fold.test_law import explain, sort_rows
from tests.streaming.lake.test_law_lake import CLUSTER, Kafka
from tests.streaming.test_division import DividedKafka
from zklake.events.envelope import Event, Frame

TABLE = "broker_membership"
BROKERS = (1, 2, 3)
TOPIC = "/brokers/topics/t"
Row = dict[str, Any]


class BrokerLog(ClusterLog):
    """Also with frames that meet some of what there is, and with writes that nobody could read."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._dice = random.Random(f"brokers/{seed}")
        self._living: set[int] = set()
        self.assign([1, 2], [2, 3], [3, 1])

    def lead_somewhere(self) -> None:
        leader, other = self._dice.sample(BROKERS, 2)
        isr = (leader, other)[: self._dice.choice((1, 2))]
        self.lead(self._dice.randrange(3), leader, *isr, after_ms=self._dice.choice((10, 9_000)))

    def come_or_go(self) -> None:
        broker = self._dice.choice(BROKERS)
        if broker in self._living:
            self.drop("broker", f"/brokers/ids/{broker}", closes=True)
        else:
            self.register(broker)
        self._living ^= {broker}

    def touch(self) -> None:
        """Of a partition's state, or of the topic."""
        path = self._dice.choice(self._list_paths())
        if self._dice.random() < 0.5:
            self.say("unreadable", kind=_find_kind(path), path=path, origin="scan")
        else:
            self.put("set", _find_kind(path), path, None, fidelity="superseded")

    def look(self) -> None:
        """A frame; there is no gap, so brokers that leave are judged all the while."""
        frame = f"f{len(self.events)}"
        self.say("frame_begin", path="/", frame=Frame(frame))
        for path in self._list_paths():
            match self._dice.choice(("read", "unreadable", "missed", "changed")):
                case "read":
                    self.put("read", _find_kind(path), path, self._data[path], is_same=True)
                case "unreadable":
                    self.say("unreadable", kind=_find_kind(path), path=path, origin="scan")
                case "changed" if path != TOPIC:
                    self.lead(int(path.split("/")[5]), 1, 1, 2)
        for broker in sorted(self._living):
            path = f"/brokers/ids/{broker}"
            self.put("read", "broker", path, self._data[path], is_same=True, session=900 + broker)
        if self._dice.random() < 0.3:
            self.come_or_go()
        self.say("in_sync", path="/", frame=Frame(frame, "none"))

    def _list_paths(self) -> list[str]:
        return sorted(path for path in self._data if path.startswith(TOPIC))

    @property
    def _data(self) -> dict[str, str]:
        """What each znode was last said to hold."""
        return {event.path or "": event.data for event in self.events if event.data is not None}


def _find_kind(path: str) -> str:
    return "topic" if path == TOPIC else "partition_state"


@cache
def live(seed: int) -> tuple[list[Event], list[Row]]:
    """A log of brokers, and how they left by the reference."""
    log, dice = BrokerLog(seed), random.Random(seed)
    while len(log.events) < 150:
        deeds = (log.lead_somewhere, log.come_or_go, log.touch, log.look)
        dice.choices(deeds, (5, 5, 2, 1))[0]()
    events = [structs.replace(each, cluster=CLUSTER, seq=1_000 + each.seq) for each in log.events]
    return events, sort_rows(fold_events(events)[TABLE])[CLUSTER]


def test_the_logs_have_brokers_that_leave_each_way() -> None:
    rows = [row for seed in range(8) for row in live(seed)[1]]
    words = [row["exit"] for row in rows]
    assert min(words.count(word) for word in ("clean", "crashed", "unknown")) > 5
    assert json.dumps([row["exit_evidence"] for row in rows]).count("a gap hid") < len(rows) / 4


@pytest.mark.parametrize("seed", range(8))
def test_brokers_leave_as_the_driver_would_say(seed: int, tmp_path: Path) -> None:
    events, wanted = live(seed)
    for size in (len(events), 40):
        tasks = DividedKafka(tmp_path / f"tasks-{size}", events)
        tasks.fold(size)
        assert tasks.refusals == set()
        assert tasks.read(TABLE) == wanted, explain(tasks.read(TABLE), wanted)
    driver = Kafka(tmp_path / "driver", events)
    driver.fold(40)
    assert driver.read(TABLE) == wanted
