"""The law of groups: however the log is cut, their tables are those of the reference."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest
from random import Random
from typing import Any, NamedTuple

import pytest

from streaming.fold.cluster_state import ClusterState
from streaming.fold.group_fold import GroupFold
from streaming.fold.lag.fold import LagFold
from streaming.fold.lag.status import Thresholds
from streaming.fold.rebalances.fold import RebalanceFold
from tests.reference.fold import generator
from tests.reference.fold.exits import find_exits
from tests.reference.fold.lag_status import Limits
from tests.reference.fold.offset_lag import fold_lag
from tests.reference.fold.pauses import fold_pauses
from tests.reference.fold.presence import Moment, follow
from tests.reference.fold.rebalances import fold_rebalances
from tests.reference.fold.tables import fold_events
from tests.reference.fold.things import Group, Subject
from tests.streaming.fold import generated
from tests.streaming.fold.driving import (
    Contexts,
    MakeMachine,
    Stop,
    find_contexts,
    keep,
    stream,
)
from tests.streaming.fold.recollecting import recollect
from zklake.events.envelope import Event

SEEDS = range(int(os.environ.get("ZKLAKE_MACHINE_SEEDS", "20")))
# Groups that live and lag; and whatever ZooKeeper may hold, told by a poor watcher.
GENERATORS = {"g": (generated.generate, 250), "h": (generator.generate, 120)}
LOGS = [f"{kind}{seed}" for kind in GENERATORS for seed in SEEDS]
# Where a row stands among others; never compared: what only the fold itself reads.
_UNSEEN = ("fold_state", "closed_on")

Row = dict[str, Any]


class Log(NamedTuple):
    """A log, what the stream knows beside it, who was there after each event, and the tables."""

    events: list[Event]
    contexts: Contexts
    moments: list[Moment]
    tables: dict[str, list[Row]]


@cache
def fold(name: str) -> Log:
    """By the reference; the name of a log is the generator's and the seed."""
    generate, length = GENERATORS[name[0]]
    found = generate(int(name[1:]), name, length)
    events = list({event.seq: event for event in reversed(found)}.values())[::-1]
    moments = follow(keep(events), find_session_closes(events))
    exits = find_exits(fold_events(events), keep(events), moments)
    tables = {**fold_lag(moments), "rebalances": fold_rebalances(moments, exits)}
    tables["consumption_pauses"] = fold_pauses(moments, tables["offset_lag"])
    return Log(keep(events), find_contexts(events), moments, tables)


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest) -> Log:
    return fold(request.param)


def find_session_closes(events: list[Event]) -> set[int]:
    """By the reference fold of the other tables."""
    return {
        row["valid_to_seq"]
        for rows in fold_events(events).values()
        for row in rows
        if row.get("ended_by") == "session_ended"
    }


def sort_rows(rows: Iterable[Row]) -> list[Row]:
    plain = [{name: row[name] for name in sorted(row) if name not in _UNSEEN} for row in rows]
    return sorted(plain, key=_find_place)


def _find_place(row: Row) -> tuple[Any, ...]:
    """A round in which two brokers answer for a partition begins, and may end, two rows of it."""
    names = ("coordinator", "group_id", "topic", "partition")
    ties = ("valid_to_seq", "log_end_offset", "log_start_offset", "broker_id")
    return (
        *(str(row.get(name)) for name in names),
        row["valid_from_seq"],
        row["is_open"],
        *(str(row.get(name)) for name in ties),
    )


def is_alike(mine: Any, theirs: Any) -> bool:
    """Fractions may be summed in another order."""
    if isinstance(mine, float) and isinstance(theirs, float | int):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return bool(mine == theirs)


def explain(got: list[Row], wanted: list[Row]) -> str | None:
    """The first row that differs, and in what."""
    for mine, theirs in zip_longest(got, wanted):
        if mine is None or theirs is None:
            return f"only one side has a row: got {mine}, wanted {theirs}"
        names = {*mine, *theirs}
        both = {
            name: (mine.get(name, "absent"), theirs.get(name, "absent"))
            for name in sorted(names)
            if name not in mine or name not in theirs or not is_alike(mine[name], theirs[name])
        }
        if both:
            key = [theirs.get(n) for n in ("coordinator", "group_id", "topic", "partition")]
            return f"{key} from seq {theirs['valid_from_seq']} (got, wanted): {both}"
    return None


def test_standing_is_who_is_there(log: Log) -> None:
    cluster_state = ClusterState()
    for moment in log.moments:
        cluster_state.apply(moment.event, log.contexts[moment.event.seq])
        members = {
            (Group(*group), name): (one.pattern, one.subscription, one.session)
            for group, ones in cluster_state.members.items()
            for name, one in ones.items()
        }
        owners = {
            Subject(*group, *key): (one.owner, one.owner_member_id, one.session)
            for group, ones in cluster_state.owners.items()
            for key, one in ones.items()
        }
        topics = {
            name: (one.incarnation, one.partitions) for name, one in cluster_state.topics.items()
        }
        assert members == {
            key: (one.pattern, one.subscription, one.session) for key, one in moment.members.items()
        }
        assert owners == {
            key: (one.owner, one.member_id, one.session) for key, one in moment.owners.items()
        }
        assert topics == {key: (one.czxid, one.partitions) for key, one in moment.topics.items()}


def make_rebalances(stop: Stop) -> GroupFold:
    still_open = [row for row in stop.rows.get("rebalances", ()) if row["is_open"]]
    seq = stop.seqs.get("rebalances", -1)
    return RebalanceFold(stop.cluster, stop.cluster_state, still_open, seq=seq)


@pytest.mark.parametrize("stops", [False, True])
def test_rebalances_are_those_of_the_reference(log: Log, stops: bool) -> None:
    assert compare(log, make_rebalances, ("rebalances",), stops) == []


def make_lag(stop: Stop) -> GroupFold:
    if not stop.seqs:
        return LagFold(stop.cluster)
    return LagFold.recall(stop.cluster, None, stop.cluster_state, recollect(stop))


@pytest.mark.parametrize("stops", [False, True])
def test_lag_is_that_of_the_reference(log: Log, stops: bool) -> None:
    assert compare(log, make_lag, LagFold.tables, stops) == []


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("most", [0, 2])
def test_lag_is_that_of_the_reference_where_rounds_change_too_much(
    log: Log, most: int, stops: bool
) -> None:
    tables = fold_lag(log.moments, Limits(points_per_round=most))
    tables["consumption_pauses"] = fold_pauses(log.moments, tables["offset_lag"])
    rules = Thresholds(points_per_round=most)

    def make(stop: Stop) -> GroupFold:
        if not stop.seqs:
            return LagFold(stop.cluster, rules)
        return LagFold.recall(stop.cluster, rules, stop.cluster_state, recollect(stop))

    crowded = log._replace(tables=tables)
    assert compare(crowded, make, LagFold.tables, stops) == []


def compare(log: Log, make: MakeMachine, tables: Sequence[str], stops: bool) -> list[str]:
    """In which tables the fold differs from the reference, and how."""
    dice = Random(f"{stops}/{log.events[0].cluster}")
    got = stream(log.events, log.contexts, make, tables, dice, stops=stops)
    said = {t: explain(sort_rows(got[t]), sort_rows(log.tables[t])) for t in tables}
    return [f"{table}: {difference}" for table, difference in said.items() if difference]


def test_the_logs_have_rows_that_go_on_where_rounds_change_too_much() -> None:
    logs = (fold(name).moments for name in LOGS if name.startswith("g"))
    tables = [fold_lag(moments, Limits(points_per_round=0)) for moments in logs]
    assert any(row["points"] > 2 for each in tables for row in each["offset_lag"])
    ends = (row for each in tables for row in each["log_ends"])
    assert any(row["log_end_offset_last"] != row["log_end_offset"] for row in ends)


def test_topics_of_kafkas_groups_grow() -> None:
    if len(SEEDS) >= 20:
        told = {
            row["trigger"]
            for name in LOGS
            for row in fold(name).tables["rebalances"]
            if row["coordinator"] == "kafka"
        }
        assert told >= {"partitions_added", "topic_changed", "member_joined", "member_left"}


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("offset_lag", "status", {None, "OK", "WARN", "REWIND", "UNOWNED"}),
        ("offset_lag", "status", {"STALLED", "STOPPED", "ABANDONED"}),
        ("offset_lag", "reason", {"no_commit", "no_offset", "no_log_end", "topic_gone"}),
        ("offset_lag", "reason", {"other_incarnation", "NOT_LEADER_FOR_PARTITION"}),
        ("offset_lag", "lag_quality", {"exact", "interpolated", "extrapolated", "unknown"}),
        ("offset_lag", "ended_by", {None, "changed", "deleted", "resync"}),
        ("log_ends", "ended_by", {None, "changed", "deleted", "resync", "recreated"}),
        ("log_ends", "error", {None, "OUT_OF_RANGE", "NOT_LEADER_FOR_PARTITION"}),
        ("consumption_pauses", "held", {"leader_away", "unowned", "owner_crashed"}),
        ("consumption_pauses", "held", {"owner_stuck", "unknown"}),
        ("consumption_pauses", "ended_by", {None, "progress", "emptied", "deleted"}),
        ("consumption_pauses", "reason", {None, "gap", "no_log_end"}),
        ("rebalances", "outcome", {"settled", "failed", "ongoing"}),
        ("rebalances", "trigger", {"member_joined", "member_left", "session_ended"}),
        ("rebalances", "trigger", {"partitions_added", "topic_changed", "topic_matched"}),
        ("rebalances", "trigger", {"owner_released", "unknown"}),
    ],
)
def test_the_logs_have_all_that_is_to_be_told(table: str, column: str, words: set[Any]) -> None:
    if len(SEEDS) >= 20:
        assert words <= {row[column] for name in LOGS for row in fold(name).tables[table]}
