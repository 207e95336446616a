"""The rebalances of a group, re-told from ZooKeeper's transaction log.

Made for stories, in which nothing is hidden; shares no code with the product or with the fold's
reference. Order, members and owners are ZooKeeper's; pauses are as long as the watcher saw them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.reference.group_log import Group, Partition, Seen, Stand, Step


class Pace(NamedTuple):
    """How long nothing must happen: where all is settled, and where it is not."""

    quiet_ms: int
    fail_ms: int


@dataclass
class Episode:
    """One rebalance, from its first step to its last."""

    before: Stand
    after: Stand
    steps: list[Step] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """Once it is over."""
        return "settled" if self.is_settled else "failed"

    @property
    def is_settled(self) -> bool:
        """Whatever must have an owner has one."""
        return self.after.is_settled(self.before)

    @property
    def is_weak(self) -> bool:
        """A topic was written, and nobody cared."""
        return all(step.is_weak for step in self.steps)

    @property
    def is_done(self) -> bool:
        """Everybody has claimed, since the last trigger, what the formula gives."""
        told = [step for step in self.steps if step.word or step.what == "claimed"]
        has_claimed = bool(told) and told[-1].what == "claimed"
        return has_claimed and self.is_settled and self.after.is_assigned

    @property
    def end(self) -> Step:
        """The last claim, of one that was settled; else the last step, or who left last."""
        claims = [step for step in self.steps if step.what == "claimed"]
        if not self.after.members:
            return [step for step in self.steps if step.what == "left"][-1]
        return claims[-1] if claims and self.is_settled else self.steps[-1]

    @property
    def triggers(self) -> list[Step]:
        """What may have caused it, in order."""
        return [step for step in self.steps if step.word]

    @property
    def attempts(self) -> int:
        """Rounds of claims of the busiest session; letting go ends a round. Of unread ones: one."""
        rounds: Counter[int | None] = Counter()
        claiming: set[int | None] = set()
        for step in self.steps:
            if step.what == "claimed" and step.session not in claiming:
                rounds[step.session] += 1
                claiming.add(step.session)
            elif step.what == "released":
                claiming.discard(step.session)
        return max((1 if who is None else n for who, n in rounds.items()), default=0)

    def count_conflicts(self, backoff_ms: int, *, is_late: bool = False) -> int:
        """Claims given back though nothing had happened since; unless new ones follow at once.

        Releases bear no time. `is_late`: each was when the watcher saw it, which is the shortest
        wait; else when it was, by a clock that may be ahead, which is the longest.
        """
        held: set[Partition] = set()
        givers: dict[Partition, int] = {}
        given: dict[int, list[int]] = defaultdict(list)
        count, ahead_ms = 0, None
        for step in self.steps:
            if step.seen.is_timed:
                late_ms = step.seen.ms - step.ms
                ahead_ms = late_ms if ahead_ms is None else min(ahead_ms, late_ms)
            if step.what == "claimed":
                giver = givers.pop(step.place, None)
                who = giver if step.session is None else step.session
                if who is not None and (times := given.get(who)):
                    waited_ms = step.seen.at_ms - times[-1] + (0 if is_late else ahead_ms or 0)
                    has_waited = waited_ms >= backoff_ms
                    if step.session is not None or not has_waited:
                        count += len(given.pop(who)) * has_waited
                held.add(step.place)
            elif step.what == "released":
                if step.place in held and not step.by_session_end and step.session is not None:
                    given[step.session].append(step.seen.ms if is_late else step.ms)
                    givers[step.place] = step.session
                held.discard(step.place)
            if step.word:
                held.clear()
        return count + sum(map(len, given.values()))

    @property
    def moved(self) -> int:
        """Partitions whose member is another one than before."""
        return sum(was != now for was, now in self._list_owners().values())

    @property
    def reacquired(self) -> int:
        """Partitions of the same member, claimed anew."""
        claimed = {step.place for step in self.steps if step.what == "claimed"}
        owners = self._list_owners()
        return sum(was == now and place in claimed for place, (was, now) in owners.items())

    def _list_owners(self) -> dict[Partition, tuple[str, str]]:
        """The member before and the one after, where both are known."""
        both = {
            place: (self.before.owners[place], self.after.owners[place])
            for place in self.before.owners.keys() & self.after.owners.keys()
        }
        return {p: (was, now) for p, (was, now) in both.items() if was and now}

    @property
    def left_unowned(self) -> int:
        """Partitions without an owner at the end; where nobody is left, all they had."""
        if not self.after.members:
            claimed = {step.place for step in self.steps if step.what == "claimed"}
            return len(claimed | self.before.owners.keys())
        return len(self.after.find_expected(self.before) - self.after.owners.keys())

    @property
    def unowned(self) -> dict[str, int]:
        """Milliseconds from each release to the next claim, or to the end, as they were seen."""
        since: dict[Partition, int] = {}
        found: dict[str, int] = defaultdict(int)
        for step in self.steps:
            if step.what == "released":
                since[step.place] = step.seen.ms
            elif step.what == "claimed" and step.place in since:
                found["-".join(map(str, step.place))] += step.seen.ms - since.pop(step.place)
        for place, ms in since.items():
            found["-".join(map(str, place))] += max(0, self.end.seen.ms - ms)
        return {place: ms for place, ms in found.items() if ms}


def tell_rebalances(log: Iterable[Seen], group_id: str, pace: Pace) -> list[Episode]:
    """Every rebalance of a group."""
    group, found = Group(group_id), list[Episode]()
    before, is_open = Stand(), False
    for steps in group.follow(log):
        is_asked = any(step.word for step in steps)
        if is_open and ((is_asked and found[-1].is_done) or _is_over(found[-1], steps, pace)):
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


def _is_over(episode: Episode, steps: list[Step], pace: Pace) -> bool:
    """Whether nothing came for long enough, up to the next steps."""
    waited_ms = steps[0].seen.ms - episode.steps[-1].seen.ms
    if episode.is_weak:
        is_other = not any(step.what in ("claimed", "released") for step in steps)
        return waited_ms >= pace.fail_ms or (is_other and waited_ms > pace.quiet_ms)
    return waited_ms > pace.quiet_ms if episode.is_settled else waited_ms >= pace.fail_ms
