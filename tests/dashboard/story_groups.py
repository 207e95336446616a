"""Groups of the story: a member of `billing` died and came back, and lag rose and fell."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC, UNICODE_GROUP, Story, write


def tell_billing(story: Story) -> None:
    """Two members; one dies 20 minutes ago, comes back 8 minutes ago."""
    group = {"coordinator": "zookeeper", "group_id": "billing"}
    lives: list[tuple[str, float, float | None]] = [
        ("a", 600, 20),
        ("a", 8, None),
        ("b", 600, None),
    ]
    for member, start, end in lives:
        story.add(
            "consumer_membership",
            start,
            end,
            **group,
            is_known=True,
            member_id=f"billing_web-{member}",
            host=f"web-{member}",
            pattern="static",
            subscription={"orders": 2},
            ended_by=None if end is None else "session_ended",
        )
    for p in range(6):
        first = "a" if p < 3 else "b"
        columns = {**group, "topic": "orders", "partition": p, "is_known": True}
        tenures: list[tuple[float, float | None, str]] = [(600, 20, first), (8 - 0.1, None, first)]
        tenures.insert(1, (17.5 if p < 3 else 19.8, 8.05, "b"))
        for start, end, member in tenures:
            story.add(
                "ownership_history",
                start,
                end,
                **columns,
                owner=f"billing_web-{member}-{p % 2}",
                owner_member_id=f"billing_web-{member}",
                owner_stream=p % 2,
                ended_by=None if end is None else "deleted",
            )
    columns = {**group, "partitions": 6, "triggers": ["member_left"], "attempts": 1, "conflicts": 0}
    story.add(
        "rebalances",
        20,
        17.5,
        **columns,
        trigger="session_ended",
        moved=3,
        reacquired=3,
        trigger_member_id="billing_web-a",
        members_before=2,
        members_after=1,
        left_unowned=0,
        unowned_ms=462_000,
        max_unowned_ms=150_000,
        duration_ms=150_000,
        outcome="settled",
        ended_by="settled",
    )
    story.add(
        "rebalances",
        8.05,
        7.9,
        **columns,
        trigger="member_joined",
        moved=3,
        reacquired=3,
        trigger_member_id="billing_web-a",
        members_before=1,
        members_after=2,
        left_unowned=0,
        unowned_ms=3600,
        max_unowned_ms=900,
        duration_ms=9000,
        outcome="settled",
        ended_by="settled",
    )
    tell_pauses(story, group)


def tell_pauses(story: Story, group: Mapping[str, str]) -> None:
    """The partitions of the member that died; one of the others has not moved on yet."""
    for p in range(3):
        events = [event["valid_from_seq"] for event in story.rows["rebalances"]]
        began, died, claimed, ended = (
            round(story.at(m).timestamp() * 1000) for m in (20.4, 20, 17.5, 17.2)
        )
        who = {"event_seq": events[-2], "owner_member_id": "billing_web-a", "broker_id": None}
        story.add(
            "consumption_pauses",
            20.4,
            17.2,
            **group,
            topic="orders",
            partition=p,
            held="unowned",
            owner_member_id="billing_web-a",
            event_seq=events[-2],
            least_ms=claimed - began,
            most_ms=ended - began,
            usual_ms=5000,
            held_ms={"owner_crashed": died - began, "unowned": claimed - died},
            records=1920,
            records_waiting=2000 + p,
            spans=[
                {"held": "owner_crashed", "from_ms": began, "to_ms": died, **who},
                {"held": "unowned", "from_ms": died, "to_ms": claimed, **who},
            ],
            ended_by="progress",
        )
    lost, led = (round(story.at(m).timestamp() * 1000) for m in (31, 30.55))
    away = {"held": "leader_away", "event_seq": None, "owner_member_id": None, "broker_id": 2}
    story.add(
        "consumption_pauses",
        31,
        30.5,
        coordinator="kafka",
        group_id="search",
        topic="orders",
        partition=1,
        held="leader_away",
        broker_id=2,
        least_ms=led - lost,
        most_ms=led - lost + 3000,
        usual_ms=5000,
        held_ms={"leader_away": led - lost},
        records=660,
        records_waiting=640,
        spans=[{**away, "from_ms": lost, "to_ms": led}],
        ended_by="progress",
    )
    columns = {**group, "topic": "orders", "partition": 5, "held": "owner_stuck"}
    story.add("consumption_pauses", 4, None, **columns, owner_member_id="billing_web-b")


def tell_storms(story: Story) -> None:
    """Earlier today: one group stormed, others were restless."""
    restless: dict[str, tuple[list[float], str]] = {
        "team-003": ([190 - 0.9 * n for n in range(9)], "session_ended"),
        "team-011": ([float(m) for m in range(100, 700, 55)], "member_joined"),
        "team-020": ([130, 131, 410, 412, 950], "partitions_added"),
    }
    for group, (minutes, trigger) in restless.items():
        for number, minute in enumerate(minutes):
            story.add(
                "rebalances",
                minute,
                minute - 0.2,
                coordinator="zookeeper",
                group_id=group,
                trigger=trigger,
                moved=2 + number % 3,
                reacquired=1,
                unowned_ms=8000,
                duration_ms=12_000,
                outcome="failed" if number % 7 == 6 else "settled",
                ended_by="settled",
            )


def tell_lag(story: Story) -> None:
    for p in range(6):
        for minute in range(60, 0, -1):
            _add_lag(story, "billing", "orders", p, minute, find_lag(minute, p))
        for minute in range(60, 0, -5):
            _add_lag(story, "search", "orders", p, minute, 40 + 7 * p, every=5, coordinator="kafka")


def find_lag(minute: float, partition: int) -> int:
    """It rises while the member is away, and falls once it is back."""
    quiet = 30 + 10 * partition + int(8 * math.sin(minute + partition))
    if partition >= 3 or minute > 20:
        return quiet
    if minute > 8:
        return quiet + int(900 * (20 - minute) * (1 + partition / 4))
    return max(quiet, int(10_800 * (1 + partition / 4) * (minute / 8) ** 2))


def _add_lag(
    story: Story,
    group: str,
    topic: str,
    partition: int,
    minute: float,
    lag: int,
    *,
    every: float = 1,
    coordinator: str = "zookeeper",
    status: str | None = None,
) -> None:
    is_last = minute - every <= 0
    end = 190_000 + 1000 * partition - int(1500 * (minute - 1))
    word = status or ("STALLED" if lag > 5000 else "WARN" if lag > 500 else "OK")
    story.add(
        "offset_lag",
        minute,
        None if is_last else minute - every,
        coordinator=coordinator,
        group_id=group,
        topic=topic,
        partition=partition,
        owner=f"{group}_web-b-0",
        owner_member_id=f"{group}_web-b",
        committed_offset=end - lag,
        committed_at=write(story.at(minute - 0.5)),
        log_start_offset=0,
        log_end_offset=end,
        sampled_at=write(story.at(0.1 if is_last else minute - every)),
        lag=lag,
        raw_lag=lag,
        lag_seconds=lag / 12.0,
        lag_quality="interpolated",
        velocity=-1.5,
        status=word,
        status_since=write(story.at(minute)),
        ended_by=None if is_last else "changed",
    )


def tell_others(story: Story, groups: int) -> None:
    names = [HOSTILE_GROUP, UNICODE_GROUP, *(f"team-{number:03}" for number in range(groups))]
    words = ["STOPPED", "OK", *("OK" if n % 9 else "WARN" for n in range(groups))]
    for name, word in zip(names, words, strict=True):
        topic = HOSTILE_TOPIC if name == HOSTILE_GROUP else "payments"
        lag = {"OK": 3, "WARN": 800, "STOPPED": 44_000}[word]
        _add_lag(story, name, topic, 0, 1, lag, status=word)
    story.add(
        "consumer_membership",
        90,
        None,
        coordinator="zookeeper",
        group_id=HOSTILE_GROUP,
        member_id=HOSTILE_TOPIC,
        host="<b>host</b>",
        is_known=True,
        subscription={HOSTILE_TOPIC: 1},
    )
    story.add(
        "ownership_history",
        50,
        None,
        coordinator="zookeeper",
        group_id=HOSTILE_GROUP,
        topic=HOSTILE_TOPIC,
        partition=0,
        owner="'; DROP TABLE topics; --",
        is_known=True,
        owner_member_id=HOSTILE_TOPIC,
    )
    story.add(
        "rebalances",
        90,
        89.9,
        coordinator="zookeeper",
        group_id=HOSTILE_GROUP,
        trigger="member_joined",
        trigger_member_id=HOSTILE_TOPIC,
        outcome="failed",
        ended_by="settled",
    )
