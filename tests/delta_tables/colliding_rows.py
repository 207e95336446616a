"""Rows of two clusters that have every name, id and seq in common, and hardly a fact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.delta_tables.lag_stories import lead, rebalance, tell_lag, tell_stall, tell_storm
from tests.delta_tables.small_lake import Rows
from tests.delta_tables.view_lake import Row, iso, lag_row, pause, span, state

_GROUP = {"coordinator": "zookeeper", "group_id": "g"}


def _shift(row: Row, minutes: float, begin: float, end: float | None = None) -> Row:
    """The row at other times, with the seqs that it has."""
    moved = state(begin + minutes, None if end is None else end + minutes)
    times = ("valid_from_at", "valid_to_at", "closed_on")
    return row | {name: moved[name] for name in times if name in moved}


def _hold(begin: float, end: float | None = None, by: str = "deleted", **columns: Any) -> Row:
    return state(begin, end, by, **columns)


def _own(partition: int, owner: str, begin: float, end: float | None = None) -> Row:
    place: Row = {**_GROUP, "topic": "t", "partition": partition}
    return _hold(begin, end, **place, owner=owner, owner_member_id=owner[:-2])


def _meet(member: str, begin: float, end: float | None = None, **columns: Any) -> Row:
    known = {**_GROUP, "pattern": "static", "subscription": {"t": 1}, "host": member}
    return _hold(begin, end, "session_ended", member_id=member, **(known | columns))


def _commit(coordinator: str, partition: int, offset: int, begin: float) -> Row:
    place: Row = {"coordinator": coordinator, "group_id": "g", "topic": "t", "partition": partition}
    return _hold(begin, **place, committed_offset=offset)


def _state(leader: int, isr: list[int], begin: float, end: float | None = None) -> Row:
    return lead(0, leader, begin, end) | {"isr": isr}


def _reign(broker_id: int, epoch: int, begin: float, end: float | None = None) -> Row:
    return _hold(begin, end, controller_id=broker_id, controller_epoch=epoch)


def _bucket(lag: int) -> Row:
    place = {**_GROUP, "topic": "t", "partition": 0}
    return {**place, "width_s": 300, "bucket_at": iso(-900), "last_lag": lag, "day": "2026-11-15"}


def _tell_wild(*patterns: str | None) -> list[Row]:
    """Groups w0, w1, … with a white list each; None: nobody knows which."""
    return [
        _meet("w_a", 0, group_id=f"w{n}", pattern="white_list", subscription=regex and {regex: 1})
        for n, regex in enumerate(patterns)
    ]


def _tell_empty(*lives: tuple[float, float]) -> Mapping[str, list[Row]]:
    """A group h whose only member comes and goes, and owns h-0 for a minute less."""
    h = {"group_id": "h"}
    return {
        "consumer_membership": [_meet("h_a", *life) | h for life in lives],
        "ownership_history": [_own(0, "h_a-0", begin + 1, end) | h for begin, end in lives],
    }


def tell_first() -> Mapping[str, Rows]:
    """Members come and go in a storm, a broker dies, a client is throttled."""
    move = {"operation": "reassignment", "topic": "t", "partition": 0, "replicas": [2]}
    quota: Row = {"entity_type": "clients", "entity_name": "g", "config_key": "consumer_byte_rate"}
    storm, empty = tell_storm(), _tell_empty((0, 5), (8, 12))
    return {
        "topics": [_hold(0, topic="t", replicas={0: [1, 2], 1: [2, 1], 2: [1, 2]})],
        "offset_lag": [
            *tell_stall()["offset_lag"],
            lag_row(20, lag=40, owner="g_a-0"),
            _open_lag(1, 0),
        ],
        "log_ends": [_end(50)],
        "lag_rollups": [_bucket(33)],
        "consumer_membership": [
            *storm["consumer_membership"],
            *(_meet("g_b", 0.4), _meet("g_c", 12.5, subscription={"t": 3})),
            *empty["consumer_membership"],
            *_tell_wild("t.*", None, "t|u", "(?!x).*"),
        ],
        "ownership_history": [
            _own(0, "g_a-0", 1, 9),
            _own(0, "g_b-0", 9.5, 10.3),
            _own(0, "g_c-0", 12.6),
            _own(1, "g_a-0", 1),
            *empty["ownership_history"],
        ],
        "consumer_offsets": [_commit("zookeeper", 0, 5, 3), _commit("kafka", 0, 9, 3)],
        "rebalances": storm["rebalances"],
        "consumption_pauses": [
            pause(
                10,
                13,
                span("unowned", 10.5, 10.6, 632),
                span("leader_away", 11, 12, 650, broker_id=1),
            ),
            pause(14, None, partition=1),
        ],
        "broker_membership": [
            _hold(0, 10.2, "session_ended", broker_id=1, host="a", session=7),
            _hold(14, broker_id=1, host="a", session=8),
            _hold(0, broker_id=2, host="b", session=9),
        ],
        "partition_state": [
            _state(1, [1, 2], 0, 10.3),
            _state(2, [2], 10.3, 15),
            _state(2, [2, 1], 15),
        ],
        "controller": [_reign(1, 5, 0, 10.2), _reign(2, 6, 10.25)],
        "admin_operations": [_hold(10, 12.9, "finished", **move)],
        "config_history": [_hold(10.1, **quota, value="1024")],
    }


def tell_second() -> Mapping[str, Rows]:
    """A member crashes; the topic is smaller, and somebody deletes it."""
    lags = tell_lag(lambda minute: 70, lambda minute: 0 if minute in (11, *range(14, 18)) else 90)
    stopped = {"owner": None, "status": "STOPPED", "status_since": iso(9.5)}
    lags = [row | (stopped if row["lag"] > 100 else {}) for row in lags]
    lags = [row | {"sampled_at": iso(n % 20 * 1.01 + 0.3)} for n, row in enumerate(lags)]
    empty = _tell_empty((0, 7), (8, 9))
    quota: Row = {"entity_type": "clients", "entity_name": "g", "config_key": "consumer_byte_rate"}
    return {
        "topics": [
            _hold(0, topic="t", replicas={0: [2, 3, 1], 1: [2, 3]}),
            _hold(0, topic="tt", replicas={0: [2]}),
        ],
        "offset_lag": [*lags, lag_row(20, lag=700, owner="g_z-0"), _open_lag(1, 90)],
        "log_ends": [_end(700)],
        "lag_rollups": [_bucket(44) | {"day": "2026-11-14"}],
        "consumer_membership": [
            *(_meet("g_a", 0), _meet("g_b", 0, 14.3), _meet("g_c", 12.5)),
            *empty["consumer_membership"],
            *_tell_wild("tt", "t.*", "(?!t).*", None),
        ],
        "ownership_history": [
            _shift(_own(0, "g_b-0", 1, 9), -4, 1, 9),
            _shift(_own(0, "g_z-0", 9.5), 1, 9.5),
            _shift(_own(1, "g_b-0", 1, 4), 0.5, 1, 4),
            *empty["ownership_history"],
        ],
        "consumer_offsets": [_commit("zookeeper", 0, 8, 3.2), _commit("kafka", 1, 2, 3)],
        "rebalances": [
            _shift(rebalance(10.5, 10.6, trigger="session_ended"), 4, 10.5, 10.6),
            _shift(rebalance(12.5, 12.6, moved=9, outcome="failed"), 90, 12.5, 12.6),
        ],
        "consumption_pauses": [
            pause(10, 15, span("owner_crashed", 10, 14.5, 632), records=9),
            pause(9, 9.9, span("leader_away", 9.2, 9.6, 650, broker_id=1), partition=1, records=7),
        ],
        "broker_membership": [
            _hold(0, 9, "session_ended", broker_id=1, host="x", session=17),
            _hold(9.5, 10.1, "session_ended", broker_id=1, host="x", session=18),
            _shift(_hold(0, 10.2, "session_ended", broker_id=2, host="y"), -3, 0, 10.2),
        ],
        "partition_state": [
            _shift(_state(2, [2], 0, 10.3), 0.2, 0, 10.3),
            _shift(_state(-1, [2], 10.3, 15), -6.2, 10.3, 15),
            _shift(_state(1, [1], 15), 50, 15),
        ],
        "controller": [
            _shift(_reign(2, 15, 0, 10.2), -3, 0, 10.2),
            _shift(_reign(1, 16, 10.25), 1, 10.25),
        ],
        "admin_operations": [_hold(10, operation="topic_deletion", topic="t")],
        "config_history": [_shift(_hold(10.1, **quota, value="9"), -6, 10.1)],
    }


def _end(offset: int) -> Row:
    return _hold(20, topic="t", partition=0, log_start_offset=0, log_end_offset=offset)


def _open_lag(partition: int, lag: int) -> Row:
    return lag_row(20, partition=partition, lag=lag, owner="g_a-0", catch_up_seconds=lag / 2)
