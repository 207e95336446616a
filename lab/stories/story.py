"""A story: a name, a sentence, and a script that turns a cast into steps, the same for one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from lab.stories.step import Step

if TYPE_CHECKING:
    from lab.stories.stage import Stage


@dataclass(frozen=True)
class Cast:
    """Who may appear: names of the story's own, broker ids, and the dice."""

    prefix: str
    broker_ids: tuple[int, ...]
    dice: Random

    def name(self, what: str) -> str:
        """A topic's or group's name that no other story uses."""
        return f"{self.prefix}-{what}"

    def place(self, partitions: int, replication: int) -> tuple[tuple[int, ...], ...]:
        """Replicas per partition: preferred leaders in a circle from a broker the dice choose."""
        ids, first = self.broker_ids, self.dice.randrange(len(self.broker_ids))
        return tuple(
            tuple(ids[(first + partition + i) % len(ids)] for i in range(replication))
            for partition in range(partitions)
        )


@dataclass(frozen=True)
class Story:
    """What `zklake lab story NAME` runs."""

    name: str
    sentence: str
    script: Callable[[Cast], Iterator[Step]]

    def plan(self, seed: int, brokers: int = 3) -> tuple[Step, ...]:
        """Every step, in order. Pure: the same seed gives the same steps."""
        prefix = f"{self.name}-{seed}"
        cast = Cast(prefix, tuple(range(brokers)), Random(prefix))  # noqa: S311
        return tuple(self.script(cast))

    def run(self, stage: Stage) -> None:
        """Take every step on the stage."""
        for step in self.plan(stage.seed, len(stage.cluster.brokers)):
            stage.say(f"{self.name}: {step}")
            step.take(stage)
