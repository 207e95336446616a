"""One rebalance of a ZooKeeper group, from its first change to its last: what it was, what it cost.

Nothing is counted while it goes on: all its changes are kept, and told when it ends.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.range_assignment import find_assignment
from tests.reference.fold.rebalance_changes import Change
from tests.reference.fold.rebalance_conflicts import count_conflicts, is_claim
from tests.reference.fold.rebalance_group import Group, Partition, find_trigger
from tests.reference.fold.states import OPEN, end

Row = dict[str, Any]
# What is not known before the end.
COUNTS = (
    "members_after",
    "attempts",
    "conflicts",
    "partitions",
    "moved",
    "reacquired",
    "left_unowned",
    "unowned_ms",
    "max_unowned_ms",
    "unowned",
    "duration_ms",
)


class Episode:
    """All changes since the first, and what stood before it."""

    def __init__(self, group: Group, first: Change, *, is_weak: bool) -> None:
        self.group = group
        self.is_weak = is_weak
        self.members_before = len(group.members)
        self.owned = dict(group.owners)
        self.changes: list[Change] = []
        self.is_hidden = False

    def take(self, change: Change) -> None:
        """A causal change."""
        self.changes.append(change)
        if change.what == "owner":
            self.see_owner(change)

    def see_owner(self, change: Change) -> None:
        """Any change of an owner; what was not watched has no known time."""
        self.is_hidden |= change.cause in ("inferred", "resync", "seen")

    @property
    def last_ms(self) -> int:
        """When the last causal change was seen."""
        return self.changes[-1].event.observed_at_ms

    def is_settled(self) -> bool:
        """Whatever should have an owner has one that is alive."""
        owners, members = self.group.owners, self.group.members
        return all(
            key in owners and (owners[key].member_id is None or owners[key].member_id in members)
            for key in self.group.find_expected(self.owned)
        )

    def is_done(self) -> bool:
        """Everybody has what the formula gives, and claimed some of it since the last trigger."""
        asked = [n for n, change in enumerate(self.changes) if find_trigger(change)]
        claimed = [n for n, change in enumerate(self.changes) if is_claim(change)]
        if not claimed or claimed[-1] < max(asked, default=-1) or not self.is_settled():
            return False
        wanted = find_assignment(self.group.members, self.group.topics)
        if wanted is None:
            return False
        owners = {key: each.owner for key, each in self.group.owners.items()}
        # Whom nobody could read is not known to be another.
        return all(
            key in owners and owners[key] in (None, thread) for key, thread in wanted.items()
        )

    def tell(self) -> Row:
        """The row while it goes on."""
        found = [found for change in self.changes if (found := find_trigger(change))]
        if not found:
            first = self.changes[0]
            is_release = (first.what, first.kind) == ("owner", "went")
            is_release &= first.cause in ("event", "inferred")
            member = first.before.member_id if is_release else None
            found = [("owner_released" if is_release else "unknown", member, None)]
        word, member, topic = found[0]
        left = [change for change in self.changes if find_trigger(change)][:1]
        seq, zxid, at = self.changes[0].moment
        return {
            "cluster": self.changes[0].event.cluster,
            **self.group.key._asdict(),
            "trigger": word,
            "trigger_member_id": member,
            "trigger_topic": topic,
            "trigger_exit": left[0].exit if word == "session_ended" else None,
            "triggers": list(dict.fromkeys(each[0] for each in found)),
            "generation": None,
            "members_before": self.members_before,
            **dict.fromkeys(COUNTS),
            "outcome": "ongoing",
            "seen_seq": self.changes[-1].event.seq,
            "valid_from_seq": seq,
            "valid_from_zxid": zxid,
            "valid_from_at": timestamp(at),
            **OPEN,
        }

    def end(self, outcome: str, *, is_emptied: bool = False) -> Row:
        """The row when it is over."""
        row = self.tell()
        last = self.changes[-1]
        claims = [change for change in self.changes if is_claim(change)]
        if outcome == "settled" and claims and not is_emptied:
            last = claims[-1]
        seq, zxid, at = last.moment
        end(row, outcome, seq, zxid, timestamp(at))
        began, ended = row["valid_from_at"], row["valid_to_at"]
        duration = None if None in (began, ended) else ended - began
        row |= self._count(claims, is_emptied) | self._count_unowned(last.event.observed_at_ms)
        return row | {"outcome": outcome, "duration_ms": duration}

    def _count(self, claims: list[Change], is_emptied: bool) -> Row:
        expected = self.group.find_expected(self.owned)
        claimed = {change.key for change in claims}
        both = {
            key: (self.owned[key], one)
            for key, one in self.group.owners.items()
            if key in self.owned and not is_emptied
        }
        names = {key: (was.member_id, now.member_id) for key, (was, now) in both.items()}
        known = {key: pair for key, pair in names.items() if None not in pair}
        moved = [key for key, (was, now) in known.items() if was != now]
        kept = [key for key, (was, now) in known.items() if was == now and key in claimed]
        unowned = {*self.owned} | claimed if is_emptied else expected - {*self.group.owners}
        return {
            "members_after": len(self.group.members),
            "partitions": len(expected),
            "moved": len(moved),
            "reacquired": len(kept),
            "left_unowned": len(unowned),
            "attempts": self._count_attempts(),
            "conflicts": count_conflicts(self.changes),
        }

    def _count_attempts(self) -> int:
        """Rounds of claiming of the session that had most of them; of unknown ones: one."""
        runs: Counter[int | None] = Counter()
        claiming: set[int | None] = set()
        for change in self.changes:
            if change.what == "owner" and change.kind == "went":
                claiming.discard(change.before.session)
            elif is_claim(change) and change.after.session not in claiming:
                claiming.add(change.after.session)
                runs[change.after.session] += 1
        return max((1 if who is None else count for who, count in runs.items()), default=0)

    def _count_unowned(self, ended_ms: int) -> Row:
        """How long the watcher saw partitions that lost their owner have none."""
        if self.is_hidden:
            return dict.fromkeys(("unowned_ms", "max_unowned_ms", "unowned"))
        holes: Counter[Partition] = Counter()
        released: dict[Partition, int] = {}
        for change in self.changes:
            if is_claim(change) and change.key in released:
                claimed_ms = change.event.observed_at_ms
                holes[change.key] += max(0, claimed_ms - released.pop(change.key))
            elif change.what == "owner" and change.kind == "went":
                released[change.key] = change.event.observed_at_ms
        for key, since in released.items():
            holes[key] += max(0, ended_ms - since)
        lengths = {f"{topic}-{p}": ms for (topic, p), ms in holes.items() if ms > 0}
        return {
            "unowned_ms": sum(lengths.values()),
            "max_unowned_ms": max(lengths.values(), default=0),
            "unowned": lengths,
        }
