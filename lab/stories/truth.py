"""The ground truth of a story: what was done and what then held, with when, as lines of JSON.

Knows neither Kafka nor ZooKeeper; docs/stories.md lists every fact and its fields.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["act", "state"]
_HEAD = ("story", "seed", "n", "kind", "fact", "from_ms", "to_ms")


@dataclass(frozen=True)
class Fact:
    """One thing that was done within (`act`), or held all through (`state`), from_ms to to_ms."""

    story: str
    seed: int
    n: int
    kind: Kind
    fact: str
    from_ms: int
    to_ms: int
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line: the head, then the fact's own fields beside it."""
        return json.dumps({**{name: getattr(self, name) for name in _HEAD}, **self.fields})

    @classmethod
    def from_json(cls, line: str) -> Fact:
        """The fact of one line; its fields as JSON has them (keys are strings)."""
        values = json.loads(line)
        return cls(**{name: values.pop(name) for name in _HEAD}, fields=values)


class Truth:
    """Writes one story's facts down, in order, for whoever listens."""

    def __init__(self, story: str, seed: int, on_fact: Callable[[Fact], None]) -> None:
        self._story = story
        self._seed = seed
        self._on_fact = on_fact
        self._count = 0

    def record(
        self, kind: Kind, fact: str, from_ms: int, to_ms: int, fields: Mapping[str, Any]
    ) -> None:
        """Add a fact. Its fields become what a reader of the JSON would get.

        It returns in a later millisecond, so that what comes next is not in this fact's time.
        """
        made = Fact(self._story, self._seed, self._count, kind, fact, from_ms, to_ms, fields)
        self._count += 1
        self._on_fact(Fact.from_json(made.to_json()))
        while now_ms() <= to_ms:
            time.sleep(0.0005)


def read_truth(lines: Iterable[str]) -> Iterator[Fact]:
    """The facts of a file of JSON lines."""
    return (Fact.from_json(line) for line in lines if line.strip())


def now_ms() -> int:
    """The wall clock as ZooKeeper's log has it: whole milliseconds, cut off."""
    return time.time_ns() // 1_000_000
