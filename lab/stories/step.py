"""What a story is made of: steps, planned as plain values and taken one after the other on a stage.

Planning asks nothing but a seed; only `take` touches the world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lab.stories.patience import STILLNESS_S, Observed
from lab.stories.truth import now_ms

if TYPE_CHECKING:
    from lab.stories.stage import Stage

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Step(ABC):
    """One line of a plan; equal plans have equal steps."""

    @abstractmethod
    def take(self, stage: Stage) -> None:
        """Do it, and write down what is true therefore."""


@dataclass(frozen=True)
class Act(Step):
    """Something the story does; it is over when its effect stands in ZooKeeper."""

    fact: ClassVar[str]

    @abstractmethod
    def perform(self, stage: Stage) -> Fields:
        """Do it and wait for the effect; returns the fields that only now are known."""

    def take(self, stage: Stage) -> None:
        from_ms = now_ms()
        learnt = self.perform(stage)
        stage.truth.record("act", self.fact, from_ms, now_ms(), {**self.list_fields(), **learnt})

    def list_fields(self) -> dict[str, Any]:
        """What the plan already says of it."""
        return asdict(self)


@dataclass(frozen=True)
class Look(Step):
    """A state that must come true, seen in the live cluster by another way than the act's."""

    fact: ClassVar[str]

    @abstractmethod
    def observe(self, stage: Stage) -> Observed | None:
        """What is seen; None while it is not what the plan says must hold."""

    @property
    def still_s(self) -> float:
        """For how long nothing of it may move."""
        return STILLNESS_S

    def take(self, stage: Stage) -> None:
        wait = stage.patience.wait_for_stillness
        still = wait(lambda: self.observe(stage), str(self), self.still_s)
        stage.truth.record("state", self.fact, still.from_ms, still.to_ms, still.fields)


@dataclass(frozen=True)
class Pause(Step):
    """Time passes: so many milliseconds at speed 1."""

    ms: int

    def take(self, stage: Stage) -> None:
        stage.sleep(self.ms)
