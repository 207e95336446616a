"""What a rebuild makes of a lake that lacks events, holds newer ones, or was cut off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from delta_tables import reading
from delta_tables.reading import read_marker
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.maintenance.retention import EVENTS_MARK, Policy
from streaming.maintenance.upkeep import maintain
from streaming.rebuild import check_names, rebuild
from tests.streaming.lake.test_law_lake import TOPIC as LAW_TOPIC
from tests.streaming.lake.test_law_lake import Crash, CrashingLake, Kafka, make_log
from tests.streaming.story import Story, registration
from tests.streaming.test_batch import TOPIC, Log, encoded
from zklake.errors import LakeError
from zklake.events.envelope import Frame, Stat

# In the past by whatever clock: only then something in it is old.
FIRST = datetime.now(UTC).replace(hour=3) - timedelta(days=10)
LIVES = ("broker_membership", "controller")


def remake(log: Log, *names: str) -> None:
    rebuild(Lake(log.lake, "c"), names, TOPIC, lambda _: None)


def read_tables(log: Log) -> dict[str, list[dict[str, Any]]]:
    return {name: log.rows(f"SELECT * FROM {name} ORDER BY valid_from_seq") for name in LIVES}


class Days(Story):
    """A story over several days."""

    day = 0

    @property
    def at_ms(self) -> int:
        moment = FIRST + timedelta(days=self.day, seconds=len(self.events))
        return round(moment.timestamp() * 1000)

    def ephemeral(self, op: str, path: str, kind: str, session: int, data: str = "") -> None:
        stat = Stat(czxid=session)
        if op == "create":
            times = {"ctime": self.at_ms, "mtime": self.at_ms}
            stat = Stat(session, session, version=0, ephemeral_owner=session, **times)
        self.add(op=op, path=path, kind=kind, data=data or None, stat=stat, origin="watch")


def live_for_days() -> Story:
    """Two brokers and a controller are born, and leave after their births were trimmed."""
    story = Days()
    brokers = [(f"/brokers/ids/{number}", "broker", number) for number in (1, 2)]
    reign = ("/controller", "controller", 2)
    for path, kind, session in brokers:
        story.ephemeral("create", path, kind, session, registration(9092))
    story.ephemeral("create", *reign, '{"version":1,"brokerid":2,"timestamp":"1"}')
    story.day = 7
    # Broker 1 dies; the controller resigns, for broker 2 lives on in the same session.
    story.ephemeral("delete", *brokers[0])
    story.add(op="heartbeat", path="/")
    story.ephemeral("delete", *reign)
    story.day = 8
    frame = Frame("f", base="model")
    story.add(op="frame_begin", path="/", frame=frame).add(op="in_sync", path="/", frame=frame)
    return story


def test_how_ephemerals_ended_is_the_same_when_their_births_were_trimmed(tmp_path: Path) -> None:
    log = Log(tmp_path, encoded(live_for_days().events))
    log.fold(len(log.values))
    before = read_tables(log)
    ends = {row["broker_id"]: row["ended_by"] for row in before["broker_membership"]}
    assert ends == {1: "session_ended", 2: None}
    assert before["controller"][0]["ended_by"] == "deleted"

    policy = Policy(retention_days={"znode_events": 3})
    assert not [o for o in maintain(log.lake, "c", ["znode_events"], policy) if o.is_error]
    assert reading.read_marker(log.lake, "c", "znode_events", EVENTS_MARK) == 1002
    born = log.rows("SELECT seq FROM znode_events WHERE op = 'create'")
    assert born == [{"seq": 1002}], "only what a step table is made of"
    remake(log, *LIVES)
    assert read_tables(log) == before


def test_records_of_a_newer_version_take_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story().register(1, czxid=10).alter(1, czxid=10, version=2, zxid=11, port=9093)
    story.leave(1, czxid=10, zxid=20)
    story.events[2] = structs.replace(story.events[2], v=2)
    log = Log(tmp_path, encoded(story.events))
    # Also where it is the first that a stream meets.
    log.fold(2)
    log.fold(3, len(log.values))
    ports = "SELECT port, valid_to_seq, ended_by FROM broker_membership ORDER BY valid_from_seq"
    unaware = [{"port": 9092, "valid_to_seq": 1003, "ended_by": "deleted"}]
    assert log.rows(ports) == unaware
    (aside,) = log.rows("SELECT kafka_offset, reason FROM quarantine")
    assert aside["kafka_offset"] == 2
    assert "event version 2 is newer" in aside["reason"]
    assert log.rows("SELECT count(*) AS n FROM log_gaps") == [{"n": 0}], "it has its place"

    remake(log, "broker_membership")
    assert log.rows(ports) == unaware, "this zklake still cannot read it"
    monkeypatch.setattr("streaming.log.records.VERSION", 2)
    remake(log, "broker_membership")
    assert log.rows(ports) == [
        {"port": 9092, "valid_to_seq": 1002, "ended_by": "changed"},
        {"port": 9093, "valid_to_seq": 1003, "ended_by": "deleted"},
    ]


def test_a_table_ahead_of_the_events_is_not_rebuilt(tmp_path: Path) -> None:
    kafka = Kafka(tmp_path, make_log(seed=59, length=35))
    lake = CrashingLake(kafka.path, "law")
    kafka.fold(20, lake, most=1)
    lake.victim = "znode_events"
    with pytest.raises(Crash):
        kafka.fold(20, lake)
    lake.victim = ""
    seq = read_progress(kafka.path, "law", LAW_TOPIC).seq
    ahead = [n for n in check_names(()) if read_marker(kafka.path, "law", n, "log-1") > seq]
    before = {name: kafka.read(name) for name in ahead}
    assert ahead
    for name in ahead:
        with pytest.raises(LakeError, match=rf"{name} is ahead of znode_events.*--once"):
            rebuild(lake, [name], LAW_TOPIC, lambda _: None)
    assert {name: kafka.read(name) for name in ahead} == before
    kafka.fold(20)
    after = {name: kafka.read(name) for name in ahead}
    rebuild(lake, ahead, LAW_TOPIC, lambda _: None)
    assert {name: kafka.read(name) for name in ahead} == after
