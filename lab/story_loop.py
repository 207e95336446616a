"""What happens on the embedded cluster of `zklake run`, for ever, so that the pages live.

A chapter that breaks off does not end the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain, repeat
from random import Random

from lab.shop import PARTITIONS, TOPIC, Shop
from lab.stories.step import Pause
from lab.story_chapters import Chapter, Pointer, plan_cycle
from lab.waves import PERIOD_S, Waves
from zklake.supervision.startable import Startable
from zklake.supervision.supervisor import Supervisor, explain_briefly

# Somebody who has just started it wants to see something; later it may be looked at in peace.
_FIRST_REST, _REST = Pause(10_000), Pause(45_000)


class StoryLoop(Startable):
    """Waves of messages, a Kafka-stored group, and one chapter after the other."""

    def __init__(
        self,
        shop: Shop,
        supervisor: Supervisor,
        *,
        seed: int,
        say: Callable[[str], None],
        point: Callable[[Pointer], None],
        answer: Callable[[Pointer, datetime], None],
    ) -> None:
        """Nothing happens yet. `point` says where to look, `answer` what the tables show."""
        self._dice = Random(seed)  # noqa: S311
        self._brokers = [broker.broker_id for broker in shop.stage.cluster.brokers]
        self._waves = Waves(shop.stage.cluster.bootstrap, TOPIC, PARTITIONS)
        self._shop = shop
        self._supervisor = supervisor
        self._say, self._point, self._answer = say, point, answer

    def start(self, timeout_s: float = 0.0) -> None:
        """Let the waves come, and who reads them."""
        self._say(
            f"story: messages come to {TOPIC} in waves of {PERIOD_S / 60:.0f} minutes, more than "
            "its readers can read and then less: lag rises and falls"
        )
        self._waves.start()
        self._shop.kafka_member.launch()
        self._supervisor.follow(self._shop.kafka_member)

    def close(self) -> None:
        """Let them go."""
        self._waves.close()

    def run(self) -> None:
        """Tell chapters until interrupted."""
        for rest in chain([_FIRST_REST], repeat(_REST)):
            self.run_cycle(rest)

    def run_cycle(self, rest: Pause) -> None:
        """Every kind of chapter once."""
        for chapter in plan_cycle(self._dice, self._brokers):
            rest.take(self._shop.stage)
            self.run_chapter(chapter)

    def run_chapter(self, chapter: Chapter) -> None:
        """One chapter, and what the tables show of it; an error is printed."""
        self._say(f"story: {chapter.sentence}")
        self._point(chapter.look)
        began_at = datetime.now(UTC)
        try:
            with self._supervisor.hold(*chapter.held):
                for step in chapter.steps:
                    step.take(self._shop.stage)
            self._answer(chapter.look, began_at)
        except Exception as error:  # whatever somebody has killed, the loop goes on
            self._say(f"story: that broke off ({explain_briefly(error)})")
            self._shop.dismiss_guests()
