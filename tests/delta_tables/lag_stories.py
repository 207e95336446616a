"""Lags that rise for a known reason, as rows of a small lake: what root_cause must find out.

Two partitions, t-0 and t-1, get 100 records a minute each and are read as fast, 10 behind; from
minute 10 to 13 something goes wrong, and from then on the group catches up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.delta_tables.small_lake import Rows
from tests.delta_tables.view_lake import Row, iso, lag_row, state

GROUP = {"coordinator": "zookeeper", "group_id": "g"}
BAD = range(10, 13)


def tell_lag(
    produced: Callable[[int], int] = lambda minute: 100,
    consumed: Callable[[int], int] = lambda minute: 0 if minute in BAD else 130,
    **columns: Any,
) -> list[Row]:
    """A row a minute and partition; nobody reads ahead of the end."""
    rows = []
    for partition in (0, 1):
        end, committed = 10_000, 9_990
        for minute in range(20):
            end += produced(minute)
            committed = min(end - 10, committed + consumed(minute))
            values = {"log_end_offset": end, "committed_offset": committed, "owner": "g_a-0"}
            values |= {"partition": partition, "sampled_at": iso(minute + 0.9), **columns}
            rows.append(lag_row(minute, minute + 1, lag=end - committed, **values))
    return rows


def member(member_id: str, begin: float, end: float | None = None) -> Row:
    return state(begin, end, "session_ended", **GROUP, member_id=member_id)


def rebalance(begin: float, end: float, **columns: Any) -> Row:
    known = {"trigger": "member_left", "outcome": "settled", "attempts": 1, "moved": 1}
    return state(begin, end, "settled", **(GROUP | known | columns))


def tell_member_crash() -> Mapping[str, Rows]:
    return {
        "offset_lag": tell_lag(),
        "consumer_membership": [member("g_a", 0), member("g_b", 0, 10.3), member("g_c", 12.5)],
        "rebalances": [
            rebalance(10.3, 10.5, trigger="session_ended", trigger_member_id="g_b"),
            rebalance(12.5, 12.6, trigger="member_joined", trigger_member_id="g_c"),
        ],
    }


def lead(partition: int, leader: int, begin: float, end: float | None = None) -> Row:
    place: Row = {"topic": "t", "partition": partition, "czxid": 1}
    return state(begin, end, **place, leader=leader, isr=[leader])


def tell_broker_death() -> Mapping[str, Rows]:
    return {
        "offset_lag": tell_lag(),
        "broker_membership": [
            state(0, 10.2, "session_ended", broker_id=1),
            state(14, broker_id=1),
            state(0, broker_id=2),
            # It led nothing that this group reads.
            state(0, 10.1, "session_ended", broker_id=3),
        ],
        "partition_state": [
            *(lead(partition, 1, 0, 10.3) for partition in (0, 1)),
            *(lead(partition, 2, 10.3) for partition in (0, 1)),
        ],
        "controller": [
            state(0, 10.2, "session_ended", controller_id=1),
            state(10.25, controller_id=2),
        ],
    }


def config(entity_type: str, name: str, begin: float, **columns: Any) -> Row:
    return state(begin, entity_type=entity_type, entity_name=name, **columns)


def tell_quota() -> Mapping[str, Rows]:
    """Somebody throttles the group's client id."""
    quota = {"config_key": "consumer_byte_rate", "value": "1024"}
    return {
        "offset_lag": tell_lag(consumed=lambda minute: 20 if minute in BAD else 130),
        "config_history": [
            config("clients", "g", 10.1, **quota),
            config("clients", "other", 10.1, **quota),
            config("topics", "elsewhere", 10.1, config_key="retention.ms", value="1"),
        ],
        "rebalances": [rebalance(5.5, 5.6)],
    }


def tell_storm() -> Mapping[str, Rows]:
    times = [10 + number / 4 for number in range(12)]
    return {
        "offset_lag": tell_lag(),
        "consumer_membership": [
            member("g_a", 0),
            *(member(f"g_{n % 4}", time, time + 0.2) for n, time in enumerate(times)),
        ],
        "rebalances": [rebalance(time, time + 0.24, attempts=2) for time in times],
    }


def tell_burst() -> Mapping[str, Rows]:
    """Producers write tenfold; around it happens what has nothing to do with it."""
    return {
        "offset_lag": tell_lag(lambda minute: 1000 if minute in BAD else 100, lambda minute: 130),
        "broker_membership": [state(0, 10.2, "session_ended", broker_id=3)],
        "partition_state": [lead(0, 1, 0), lead(1, 2, 0)],
        "rebalances": [rebalance(2, 2.1), rebalance(10.1, 10.2) | {"group_id": "other"}],
        "consumer_membership": [member("g_a", 0), member("g_b", 0, 2)],
        "config_history": [config("topics", "other", 10, config_key="x", value="1")],
    }


def tell_rewind() -> Mapping[str, Rows]:
    return {"offset_lag": tell_lag(consumed=lambda minute: -5000 if minute == 10 else 130)}


def tell_stall() -> Mapping[str, Rows]:
    stalled = {"status": "STALLED", "status_since": iso(10)}
    rows = tell_lag()
    return {"offset_lag": [row | (stalled if row["lag"] > 100 else {}) for row in rows]}


def tell_reassignment() -> Mapping[str, Rows]:
    move = {"operation": "reassignment", "topic": "t", "partition": 0, "replicas": [2]}
    return {
        "offset_lag": tell_lag(),
        "admin_operations": [
            state(10, 12.9, "finished", **move),
            state(10, 12.9, "finished", **move | {"topic": "other"}),
        ],
        "partition_state": [lead(0, 1, 0, 12.8), lead(0, 2, 12.8), lead(1, 2, 0)],
    }


def tell_slow_consumers() -> Mapping[str, Rows]:
    """Nothing happened that ZooKeeper knows of."""
    return {"offset_lag": tell_lag(consumed=lambda minute: 5 if minute in BAD else 130)}


# By the cause that must stand first: the rows, and what it happened to.
STORIES: Mapping[str, tuple[Callable[[], Mapping[str, Rows]], str]] = {
    "member_lost": (tell_member_crash, "member g_b"),
    "broker_left": (tell_broker_death, "broker 1"),
    "config_changed": (tell_quota, "client g"),
    "rebalance_storm": (tell_storm, "the group"),
    "producer": (tell_burst, "producers"),
    "offsets_rewound": (tell_rewind, "its offsets"),
    "consumer_stalled": (tell_stall, "its owners"),
    "reassignment": (tell_reassignment, "topic t"),
    "consumers_slowed": (tell_slow_consumers, "consumers"),
}
