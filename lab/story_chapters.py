"""What happens on the embedded cluster of `zklake run`, as a plan: pure, and equal for equal dice.

A chapter is steps of lab/stories on the shop's stage, and where to look while they are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from lab.shop import GROUP, KAFKA_GROUP, REGULARS, TOPIC, plan_join, plan_kafka_join
from lab.stories.broker_acts import StartBroker, StopBroker
from lab.stories.config_acts import AlterConfig
from lab.stories.group_acts import CrashMember, StopMember, name_member
from lab.stories.kafka_group_acts import LeaveKafkaGroup
from lab.stories.step import Pause, Step

_GUEST, _KAFKA_GUEST = "c", "two"
_MINUTE_MS = 60_000
_REBALANCES = (
    "SELECT valid_from_at, trigger, trigger_member_id, moved, duration_ms, outcome "
    "FROM rebalances WHERE group_id = '{group}' AND NOT is_open AND valid_from_at >= {{since}} "
    "ORDER BY valid_from_at"
)
_VALUES = (
    "SELECT valid_from_at, entity_name, config_key, value FROM config_history "
    "WHERE entity_name = 'orders' AND config_key = 'retention.ms' AND valid_from_at >= {since}"
)
_ABSENCES = (
    "SELECT broker_id, away_from, away_to, ended_by, paused_groups, max_least_ms "
    "FROM broker_absence_cost WHERE away_to >= {since} ORDER BY away_from"
)


@dataclass(frozen=True)
class Pointer:
    """Where a chapter can be seen: a page, a command, and rows that the lake must have then."""

    page: str
    command: str
    # With {since} for the time at which the chapter began.
    sql: str
    least_rows: int = 1


@dataclass(frozen=True)
class Chapter:
    """Something to see; `held` are the processes that it ends and starts itself."""

    sentence: str
    steps: tuple[Step, ...]
    look: Pointer
    held: tuple[str, ...] = ()


def plan_cycle(dice: Random, broker_ids: Sequence[int]) -> Iterator[Chapter]:
    """A consumer crashes, members join and leave, a config changes, a broker restarts."""
    yield _plan_crash(dice.choice(REGULARS))
    yield Chapter(
        f"{name_member(GROUP, _GUEST)} joins for half a minute: two rebalances",
        (plan_join(_GUEST), Pause(30_000), StopMember(GROUP, _GUEST)),
        Pointer(
            "rebalances",
            f"zklake at now ownership_history --where \"group_id = '{GROUP}'\"",
            _REBALANCES.format(group=GROUP),
            2,
        ),
    )
    yield Chapter(
        f"a second member joins the Kafka-stored group {KAFKA_GROUP} for half a minute",
        (
            plan_kafka_join(_KAFKA_GUEST),
            Pause(30_000),
            LeaveKafkaGroup(KAFKA_GROUP, _KAFKA_GUEST, in_haste=True),
        ),
        Pointer(
            f"group?group_id={KAFKA_GROUP}",
            f"zklake at now consumer_membership --where \"group_id = '{KAFKA_GROUP}'\"",
            _REBALANCES.format(group=KAFKA_GROUP),
            2,
        ),
    )
    # Hardly ever what it is already.
    yield _plan_config(dice.randrange(120, 480))
    yield _plan_restart(dice.choice(broker_ids))


def _plan_crash(victim: str) -> Chapter:
    member_id = name_member(GROUP, victim)
    return Chapter(
        f"kill -9 of {member_id}: the others take over its partitions once its session has ended; "
        "it comes back 20 s later",
        (CrashMember(GROUP, victim), Pause(20_000), plan_join(victim)),
        Pointer(
            f"group?group_id={GROUP}", f"zklake why {GROUP}", _REBALANCES.format(group=GROUP), 2
        ),
        (member_id,),
    )


def _plan_config(minutes: int) -> Chapter:
    return Chapter(
        f"topic {TOPIC} keeps its messages for {minutes} minutes from now on",
        (AlterConfig("topics", TOPIC, (("retention.ms", str(minutes * _MINUTE_MS)),)),),
        Pointer(
            "changes",
            f"zklake at now config_history --where \"entity_name = '{TOPIC}'\"",
            _VALUES,
        ),
    )


def _plan_restart(broker_id: int) -> Chapter:
    return Chapter(
        f"broker {broker_id} restarts, in order: its partitions get other leaders",
        (StopBroker(broker_id), Pause(5_000), StartBroker(broker_id)),
        Pointer("brokers", 'zklake sql "SELECT * FROM broker_absence_cost"', _ABSENCES),
        (f"broker-{broker_id}",),
    )
