"""The rebalances of a group, re-told from ZooKeeper's transaction log.

Made for stories, in which nothing is hidden; shares no code with the product or with the fold's
reference. Where a pause is just about as long as what divides two rebalances, `begins` decides.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.reference.group_log import Group, Partition, Stand, Step
from tests.reference.tree import Change


class Pace(NamedTuple):
    """How long nothing must happen: where all is settled, and where it is not; give or take."""

    quiet_ms: int
    fail_ms: int
    doubt_ms: int


@dataclass
class Episode:
    """One rebalance, from its first step to its last."""

    before: Stand
    after: Stand
    steps: list[Step] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """Once it is over."""
        return "settled" if self.after.is_settled else "failed"

    @property
    def is_weak(self) -> bool:
        """A topic was written, and nobody cared."""
        return all(step.is_weak for step in self.steps)

    @property
    def end_ms(self) -> int:
        """The last claim, of one that was settled; else the last step."""
        claims = [step.ms for step in self.steps if step.what == "claimed"]
        has_claimed = claims and self.after.members and self.after.is_settled
        return max(claims) if has_claimed else self.steps[-1].ms

    @property
    def triggers(self) -> list[Step]:
        """What may have caused it, in order."""
        return [step for step in self.steps if step.word]

    @property
    def attempts(self) -> int:
        """Rounds of claims of the busiest session; letting go ends a round."""
        rounds: Counter[int] = Counter()
        claiming: set[int] = set()
        for step in self.steps:
            if step.what == "claimed" and step.session not in claiming:
                rounds[step.session] += 1
                claiming.add(step.session)
            elif step.what == "released":
                claiming.discard(step.session)
        return max(rounds.values(), default=0)

    def count_conflicts(self, backoff_ms: int) -> int:
        """Claims given back though nothing had happened since; unless new ones follow at once."""
        held: set[Partition] = set()
        given: dict[int, list[int]] = defaultdict(list)
        count = 0
        for step in self.steps:
            if step.what == "claimed":
                times = given.pop(step.session, [])
                count += len(times) if times and step.ms - times[-1] >= backoff_ms else 0
                held.add(step.place)
            elif step.what == "released" and not step.by_session_end and step.place in held:
                given[step.session].append(step.ms)
                held.discard(step.place)
            if step.word:
                held.clear()
        return count + sum(map(len, given.values()))

    @property
    def moved(self) -> int:
        """Partitions whose member is another one than before."""
        after = self.after.owners
        return sum(
            after.get(place, member) != member for place, member in self.before.owners.items()
        )

    @property
    def reacquired(self) -> int:
        """Partitions of the same member, claimed anew."""
        claimed = {step.place for step in self.steps if step.what == "claimed"}
        kept = self.before.owners.items() & self.after.owners.items()
        return sum(place in claimed for place, _ in kept)

    @property
    def left_unowned(self) -> int:
        """Partitions without an owner at the end; where nobody is left, all they had."""
        if not self.after.members:
            claimed = {step.place for step in self.steps if step.what == "claimed"}
            return len(claimed | self.before.owners.keys())
        return len(self.after.expected - self.after.owners.keys())

    @property
    def unowned(self) -> dict[str, int]:
        """Milliseconds from each release to the next claim, or to the end, by partition."""
        since: dict[Partition, int] = {}
        found: dict[str, int] = defaultdict(int)
        for step in self.steps:
            if step.what == "released":
                since[step.place] = step.ms
            elif step.what == "claimed" and step.place in since:
                found["-".join(map(str, step.place))] += step.ms - since.pop(step.place)
        for place, ms in since.items():
            found["-".join(map(str, place))] += max(0, self.end_ms - ms)
        return dict(found)


def tell_rebalances(
    changes: Iterable[Change], group_id: str, pace: Pace, begins: Callable[[int], bool]
) -> list[Episode]:
    """Every rebalance of a group; `begins`: whether one seems to begin at that moment."""
    group, found = Group(group_id), list[Episode]()
    before, is_open = Stand(), False
    for steps in group.follow(changes):
        if is_open and _is_over(found[-1], steps[0].ms, pace, begins):
            is_open = False
        after = group.look()
        if not is_open and (before.members or after.members):
            found.append(Episode(before, after))
            is_open = True
        if is_open:
            found[-1].steps += steps
            found[-1].after = after
            is_open = bool(after.members)
        before = after
    return [episode for episode in found if not episode.is_weak]


def _is_over(episode: Episode, ms: int, pace: Pace, begins: Callable[[int], bool]) -> bool:
    is_quiet = episode.after.is_settled and not episode.is_weak
    over_ms = ms - episode.steps[-1].ms - (pace.quiet_ms if is_quiet else pace.fail_ms)
    return begins(ms) if abs(over_ms) <= pace.doubt_ms else over_ms > 0
