"""How members left is the same after a restart at any place, and a crash at any commit: how late
commits were seen and how far was read are recalled from the lake."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streaming.lake.lake import Lake
from streaming.rebuild import rebuild
from tests.reference.fold.tables import fold_events
from tests.streaming.fold.cluster_log import leave_in_turn
from tests.streaming.fold.test_law import explain, sort_rows
from tests.streaming.lake.test_law_lake import (
    CLUSTER,
    TOPIC,
    Kafka,
    compare,
    expect_of_groups,
)
from zklake.events.envelope import Event

MEMBERS = "consumer_membership"


@cache
def find_log() -> tuple[list[Event], dict[str, list[dict[str, Any]]]]:
    """A log of members that leave each way, and what the reference says of it."""
    told = leave_in_turn(1, 200).events
    events = [msgspec.structs.replace(event, cluster=CLUSTER) for event in told]
    wanted = {MEMBERS: sort_rows(fold_events(events)[MEMBERS])[CLUSTER]}
    return events, wanted | {"rebalances": expect_of_groups(events)["rebalances"]}


def check(kafka: Kafka, wanted: dict[str, list[dict[str, Any]]]) -> None:
    assert kafka.read(MEMBERS) == wanted[MEMBERS], explain(kafka.read(MEMBERS), wanted[MEMBERS])
    compare(kafka, {"rebalances": wanted["rebalances"]})


def test_the_log_has_both() -> None:
    _, wanted = find_log()
    assert {row["exit"] for row in wanted[MEMBERS]} == {"clean", "crashed", "unknown"}
    assert {row["trigger_exit"] for row in wanted["rebalances"]} >= {None, "clean", "crashed"}


def test_a_restart_after_every_few_events_changes_nothing(tmp_path: Path) -> None:
    events, wanted = find_log()
    kafka = Kafka(tmp_path, events)
    for _ in range(0, len(events), 9):
        kafka.fold(9, most=1)
    kafka.fold(9)
    check(kafka, wanted)
    rebuild(Lake(kafka.path, CLUSTER), (MEMBERS, "rebalances"), TOPIC, lambda _: None)
    check(kafka, wanted)


@pytest.mark.parametrize("victim", ["offset_lag", "log_ends", "rebalances", MEMBERS])
def test_a_crash_at_each_commit_changes_nothing(victim: str, tmp_path: Path) -> None:
    events, wanted = find_log()
    kafka = Kafka(tmp_path, events)
    for _ in range(4):
        kafka.crash(40, victim)
    kafka.fold(31)
    check(kafka, wanted)
