"""How members and brokers left: a clean stop, a kill -9, a controlled shutdown and a crash of a
broker differ by what came before (docs/rebalances.md)."""

from __future__ import annotations

import os

import pytest

from delta_tables.catalog import TABLE_BY_NAME
from streaming.fold.cluster import ClusterFold
from streaming.lake.arrow_rows import make_arrow_of_tuples
from streaming.log.continuity import Entry
from tests.reference.fold.tables import fold_events
from tests.streaming.fold import generated
from tests.streaming.fold.cluster_log import ClusterLog, leave_in_turn
from tests.streaming.fold.engine import Engine
from tests.streaming.fold.group_log import GROUP, Row

# ZooKeeper gives a dead consumer up after its session timeout, 6 s by default.
TIMEOUT = 6_000
SEEDS = range(int(os.environ.get("ZKLAKE_MACHINE_SEEDS", "25")))


def reader(log: ClusterLog | None = None) -> ClusterLog:
    """g_a owns two partitions, has committed, and a round has sampled more than that."""
    log = log or ClusterLog()
    log.topic("t", 2)
    log.join("g_a")
    log.claim("g_a", 0, 1)
    log.commit(100, 0, after_ms=3_000)
    log.commit(50, 1)
    log.sample(100, 50)
    return log


def tell(log: ClusterLog, table: str = "consumer_membership") -> list[tuple[str, str]]:
    """What is said of all that ended; the reference says the same."""
    engine = Engine()
    for event in log.events:
        engine.fold([event])
    engine.finish()
    rows = engine.rows(table)
    wanted = sorted(fold_events(log.events)[table], key=lambda row: row["valid_from_seq"])
    assert [pick(row) for row in rows] == [pick(row) for row in wanted]
    assert all(row["exit"] is None for row in rows if row["is_open"])
    return [pick(row) for row in rows if not row["is_open"]]


def pick(row: Row) -> tuple[str, str]:
    return row["exit"], row["exit_evidence"]


@pytest.mark.parametrize("owners_first", [False, True])
def test_a_clean_stop_commits_and_goes(owners_first: bool) -> None:
    log = reader()
    log.sample(140, 60, after_ms=4_000)
    log.commit(140, after_ms=500)
    log.commit(60, 1)
    log.leave("g_a", 0, 1, owners_first=owners_first)
    assert tell(log) == [("clean", "it committed t-1 10 ms before")]


@pytest.mark.parametrize("owners_first", [False, True])
def test_a_kill_9_is_missed_when_the_session_times_out(owners_first: bool) -> None:
    log = reader()
    log.sample(140, 60, after_ms=4_000)
    log.wait(TIMEOUT - 4_000)
    log.leave("g_a", 0, 1, owners_first=owners_first)
    silent = 10 + 4_000 + TIMEOUT - 4_000 + 10
    evidence = f"no commit in its last {silent} ms, and 50 records waited"
    assert tell(log) == [("crashed", evidence)]


def test_who_had_nothing_to_commit_may_have_stopped_either_way() -> None:
    log = reader()
    log.wait(60_000)
    log.leave("g_a", 0, 1)
    evidence = "nothing is known to have waited for it that it did not commit"
    assert tell(log) == [("unknown", evidence)]


def test_who_was_stuck_for_minutes_did_not_crash_then() -> None:
    log = reader()
    log.sample(140, 60, after_ms=4_000)
    log.wait(200_000)
    log.leave("g_a", 0, 1)
    evidence = "it had committed nothing for long, though records waited"
    assert tell(log) == [("unknown", evidence)]


def test_who_owns_nothing_leaves_no_trace() -> None:
    log = reader()
    log.join("g_b")
    log.leave("g_b")
    assert tell(log) == [("unknown", "it owned nothing")]


def test_the_commit_of_a_former_owner_proves_nothing() -> None:
    log = reader()
    log.release(0)
    log.join("g_b")
    log.claim("g_b", 0)
    log.leave("g_b", 0)
    evidence = "nothing is known to have waited for it that it did not commit"
    assert tell(log) == [("unknown", evidence)]


@pytest.mark.parametrize("skew_ms", [-40_000, 40_000])
def test_two_clocks_that_differ_make_no_crash_of_a_clean_stop(skew_ms: int) -> None:
    log = ClusterLog()
    log.skew_ms = skew_ms
    reader(log)
    log.sample(140, 60, after_ms=4_000)
    log.commit(140, after_ms=500)
    log.leave("g_a", 0, 1)
    assert [exit_ for exit_, _ in tell(log)] == ["clean"]


def test_a_watcher_that_saw_all_late_cannot_say() -> None:
    """It stood still for eight seconds: the last commit and the end came in at once."""
    log = reader()
    log.sample(140, 60, after_ms=4_000)
    log.late_ms = 8_000
    log.commit(140)
    log.late_ms = 8_000 - TIMEOUT
    log.now_ms += TIMEOUT
    log.leave("g_a", 0, 1)
    ((told, evidence),) = tell(log)
    assert (told, evidence[:19]) == ("unknown", "its last commit was")


def test_a_gap_hides_it() -> None:
    log = reader()
    log.commit(100)
    log.gap()
    log.drop("consumer", f"/consumers/{GROUP}/ids/g_a", origin="resync")
    log.in_sync()
    assert tell(log) == [("unknown", "a gap hid how it left")]


def brokers() -> ClusterLog:
    """Broker 1 leads t-0 and follows on t-1; it alone has t-2."""
    log = ClusterLog()
    log.assign([1, 2], [2, 1], [1])
    log.register(1)
    log.register(2)
    log.lead(0, 1, 1, 2)
    log.lead(1, 2, 2, 1)
    log.lead(2, 1, 1)
    log.wait(60_000)
    return log


def drop_broker(log: ClusterLog) -> None:
    log.drop("broker", "/brokers/ids/1", closes=True)


def test_a_controlled_shutdown_hands_over_first() -> None:
    log = brokers()
    log.lead(0, 2, 2)
    log.lead(1, 2, 2)
    log.wait(900)
    drop_broker(log)
    evidence = "2 partitions were taken from it right before"
    assert tell(log, "broker_membership") == [("clean", evidence)]


def test_a_broker_that_crashed_still_leads() -> None:
    log = brokers()
    drop_broker(log)
    log.lead(0, 2, 2)
    log.lead(1, 2, 2)
    evidence = "it still led 1 partitions that others could have led"
    assert tell(log, "broker_membership") == [("crashed", evidence)]


def test_a_follower_that_crashed_is_still_in_sync() -> None:
    log = brokers()
    log.lead(0, 2, 2, 1)
    log.wait(60_000)
    drop_broker(log)
    evidence = "it was still in the ISR of 2 partitions"
    assert tell(log, "broker_membership") == [("crashed", evidence)]


@pytest.mark.parametrize("since_ms", [0, 60_000])
def test_what_nobody_else_has_is_not_handed_over(since_ms: int) -> None:
    """t-2 has no other replica; whatever else left the broker left it long before."""
    log = brokers()
    log.lead(0, 2, 2)
    log.lead(1, 2, 2)
    log.wait(since_ms)
    drop_broker(log)
    assert tell(log, "broker_membership")[0][0] == ("unknown" if since_ms else "clean")


@pytest.mark.parametrize("seed", SEEDS)
def test_exits_of_living_groups_are_those_of_the_reference(seed: int) -> None:
    found = generated.generate(seed, "c", 250)
    events = list({event.seq: event for event in reversed(found)}.values())[::-1]
    fold = ClusterFold("c")
    fold.walk(Entry(event, 0) for event in events)
    fold.finish()
    table = TABLE_BY_NAME["consumer_membership"]
    stored = make_arrow_of_tuples(table, fold.intervals[table.name].ended)
    wanted = [r for r in fold_events(events)[table.name] if not r["is_open"]]
    assert sort_exits(stored.to_pylist()) == sort_exits(wanted)


def sort_exits(rows: list[Row]) -> list[str]:
    keys = ("coordinator", "group_id", "member_id", "valid_from_seq", "exit", "exit_evidence")
    return sorted(str([row[key] for key in keys]) for row in rows)


def test_members_that_leave_in_turn_leave_each_way() -> None:
    said = [exit_ for seed in range(5) for exit_, _ in tell(leave_in_turn(seed, 150))]
    assert min(said.count(word) for word in ("clean", "crashed", "unknown")) > 5
