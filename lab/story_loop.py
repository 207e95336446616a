"""What happens on the embedded cluster of `zklake run`, for ever: gently, so that the pages live.

A chapter is steps of lab/stories on the shop's stage; a chapter that breaks off does not end the
loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from lab.shop import (
    GROUP,
    KAFKA_GROUP,
    PARTITIONS,
    REGULARS,
    TOPIC,
    Shop,
    plan_join,
    plan_kafka_join,
)
from lab.stories.broker_acts import StartBroker, StopBroker
from lab.stories.config_acts import AlterConfig
from lab.stories.group_acts import CrashMember, StopMember, name_member
from lab.stories.kafka_group_acts import LeaveKafkaGroup
from lab.stories.step import Pause, Step
from lab.waves import Waves
from zklake.supervision.startable import Startable
from zklake.supervision.supervisor import Supervisor, explain_briefly

_REST = Pause(45_000)
_GUEST, _KAFKA_GUEST = "c", "two"
_KAFKA_LEAVE = LeaveKafkaGroup(KAFKA_GROUP, _KAFKA_GUEST)
_HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Chapter:
    """Something to see; `held` are the processes that it ends and starts itself."""

    sentence: str
    steps: tuple[Step, ...]
    held: tuple[str, ...] = ()


def plan_chapters(dice: Random, broker_ids: Sequence[int]) -> Iterator[Chapter]:
    """One chapter after the other, without end. Pure: equal dice plan equal chapters."""
    while True:
        yield Chapter(
            f"{name_member(GROUP, _GUEST)} joins for a minute",
            (plan_join(_GUEST), Pause(60_000), StopMember(GROUP, _GUEST)),
        )
        victim = dice.choice(REGULARS)
        yield Chapter(
            f"kill -9 of {name_member(GROUP, victim)}; it comes back half a minute later",
            (CrashMember(GROUP, victim), Pause(30_000), plan_join(victim)),
            (name_member(GROUP, victim),),
        )
        yield Chapter(
            f"a second member joins {KAFKA_GROUP} for a minute",
            (plan_kafka_join(_KAFKA_GUEST), Pause(60_000), _KAFKA_LEAVE),
        )
        hours = dice.choice((2, 4, 6, 8))
        yield Chapter(
            f"topic {TOPIC} keeps its messages for {hours} hours from now on",
            (AlterConfig("topics", TOPIC, (("retention.ms", str(hours * _HOUR_MS)),)),),
        )
        broker_id = dice.choice(broker_ids)
        yield Chapter(
            f"broker {broker_id} restarts, in order",
            (StopBroker(broker_id), Pause(5_000), StartBroker(broker_id)),
            (f"broker-{broker_id}",),
        )


class StoryLoop(Startable):
    """Waves of messages, a Kafka-stored group, and one chapter after the other."""

    def __init__(
        self, shop: Shop, supervisor: Supervisor, *, seed: int, say: Callable[[str], None]
    ) -> None:
        """Nothing happens yet."""
        brokers = [broker.broker_id for broker in shop.stage.cluster.brokers]
        self._chapters = plan_chapters(Random(seed), brokers)  # noqa: S311
        self._waves = Waves(shop.stage.cluster.bootstrap, TOPIC, PARTITIONS)
        self._shop = shop
        self._supervisor = supervisor
        self._say = say

    def start(self, timeout_s: float = 0.0) -> None:
        """Let the waves come, and who reads them."""
        self._waves.start()
        self._shop.kafka_member.launch()
        self._supervisor.follow(self._shop.kafka_member)

    def close(self) -> None:
        """Let them go."""
        self._waves.close()

    def run(self) -> None:
        """Tell chapters until interrupted."""
        for chapter in self._chapters:
            _REST.take(self._shop.stage)
            self.tell(chapter)

    def tell(self, chapter: Chapter) -> None:
        """One chapter; what breaks it off is said."""
        self._say(f"story: {chapter.sentence}")
        try:
            with self._supervisor.hold(*chapter.held):
                for step in chapter.steps:
                    step.take(self._shop.stage)
        except Exception as error:  # whatever somebody has killed, the loop goes on
            self._say(f"story: that broke off ({explain_briefly(error)})")
            self._shop.dismiss_guests()
