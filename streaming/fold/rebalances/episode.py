"""One rebalance of a ZooKeeper group: what belongs to it, and when it is over.

Pure: a state machine of one group. Its state is the open row; what the row's columns do not say
travels in fold_state. What it came to is computed in outcome.py.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from streaming.fold.changes import Cause, Change, OwnerState, PartitionKey
from streaming.fold.life import Moment
from streaming.fold.rebalances.memory import EpisodeState, Touched
from streaming.fold.rebalances.roster import Roster
from streaming.fold.rebalances.tries import (
    Times,
    find_tries,
    give_back,
    note_times,
    settle_tries,
)
from streaming.fold.rebalances.triggers import Trigger
from streaming.fold.row import Row, open_row
from zklake.old_words import read_word

Verdict = Literal["ongoing", "settled", "failed", "withdrawn"]
# Columns that are only known at its end.
RESULTS = (
    *("members_after", "attempts", "conflicts", "partitions", "moved", "reacquired"),
    *("left_unowned", "unowned_ms", "max_unowned_ms", "unowned", "duration_ms"),
)


class Pace(NamedTuple):
    """How long to wait for more where all is settled, and where it is not."""

    quiet_ms: int = 2500
    fail_ms: int = 10_000
    # After a failed try comes the backoff, 2 s by default; an extra round follows sooner.
    extra_round_ms: int = 1000


class Episode:
    """A rebalance under way."""

    def __init__(self, row: Row, memory: EpisodeState) -> None:
        self.row, self.memory = row, memory

    @classmethod
    def begin(cls, key: Row, members: int, trigger: Trigger, at: Moment, times: Times) -> Episode:
        """It begins; `key` are the key columns, `members` the number before."""
        columns: Row = {
            **key,
            **_describe_trigger(trigger),
            "generation": None,
            "members_before": members,
            **dict.fromkeys(RESULTS),
            "outcome": "ongoing",
            "fold_state": None,
        }
        row = open_row(columns.pop("cluster"), at.seq, at.zxid, at.at_ms, **columns)
        episode = cls(row, EpisodeState(at, times.seen_ms, trigger.is_weak, trigger.is_real))
        episode.note(trigger, at, times)
        return episode

    @classmethod
    def recall(cls, row: Row) -> Episode:
        """Take up an episode whose row stands open, perhaps written by an older version."""
        words = list(dict.fromkeys(read_word(word) for word in row["triggers"]))
        named = {"trigger": read_word(row["trigger"]), "triggers": words}
        return cls({**row, **named}, msgspec.json.decode(row["fold_state"], type=EpisodeState))

    def write_row(self) -> Row:
        """The open row, with all that must be remembered."""
        return {**self.row, "fold_state": msgspec.json.encode(self.memory).decode()}

    def judge(self, roster: Roster, now_ms: int, pace: Pace) -> Verdict:
        """Whether it is over by now."""
        waited = now_ms - self.memory.last_ms
        if self.memory.is_weak:
            return "withdrawn" if waited >= pace.fail_ms else "ongoing"
        if waited <= min(pace.quiet_ms, pace.fail_ms):
            return "ongoing"
        if self.is_settled(roster):
            return "settled" if waited > pace.quiet_ms else "ongoing"
        return "failed" if waited >= pace.fail_ms else "ongoing"

    def is_done(self, roster: Roster) -> bool:
        """Whether everybody has claimed, since the last trigger, what Kafka's formula gives them.

        Without a claim since then nobody has reacted yet: a trigger that moves nothing finds all
        assigned, and everybody lets go and claims again nevertheless.
        """
        claim = self.memory.claim
        if claim is None or claim.seq <= self.memory.trigger_seq:
            return False
        return roster.is_assigned()

    def is_settled(self, roster: Roster) -> bool:
        """Whether every partition that must be owned has an owner that is a member."""
        if roster.missing:
            return False
        return all(roster.is_good(key) for key in self.list_owned_before(roster))

    def list_owned_before(self, roster: Roster) -> set[PartitionKey]:
        """What is expected of a group of which some subscription is unknown, beside the rest."""
        if not roster.unknown:
            return set()
        touched = {PartitionKey(t.topic, t.partition): t for t in self.memory.touched.values()}
        before = {key for key, each in touched.items() if each.had_owner}
        untouched = roster.owners.keys() - touched.keys()
        return {key for key in before | untouched if key.topic in roster.topics}

    def note(self, trigger: Trigger, at: Moment, times: Times) -> None:
        """A causal change belongs to it."""
        memory = self.memory
        memory.last, memory.last_ms = at, times.seen_ms
        note_times(memory, times)
        memory.is_weak &= trigger.is_weak
        self.row["seen_seq"] = at.seq
        if not trigger.is_real:
            return
        memory.trigger_seq = at.seq
        if not memory.is_explained:
            self.row |= _describe_trigger(trigger)
        elif trigger.word not in self.row["triggers"]:
            self.row["triggers"] = [*self.row["triggers"], trigger.word]
        memory.is_explained = True

    def note_owner(self, change: Change, at: Moment, times: Times, pace: Pace) -> None:
        """An owner was claimed or released; one that was only seen to stand is no claim."""
        assert change.topic is not None
        assert change.partition is not None
        self.memory.is_hidden |= change.cause in ("inferred", "resync", "seen")
        before, after = change.before, change.after
        touched = self.memory.touched.get(name := f"{change.topic}-{change.partition}")
        if touched is None:
            owner = before.owner_member_id if isinstance(before, OwnerState) else None
            touched = Touched(change.topic, change.partition, before is not None, owner)
            self.memory.touched[name] = touched
        if change.cause == "seen":
            touched.released_ms = None
        elif isinstance(after, OwnerState):
            settle_tries(self.memory, touched, after, times, pace.extra_round_ms)
            self._claim(touched, after, at, times.seen_ms)
        elif isinstance(before, OwnerState):
            self._release(touched, before, change.cause, times.seen_ms)

    def _claim(self, touched: Touched, owner: OwnerState, at: Moment, now_ms: int) -> None:
        if touched.released_ms is not None:
            # By the clock that saw the release; a claim has ZooKeeper's time, too, a delete none.
            touched.unowned_ms += max(0, now_ms - touched.released_ms)
        touched.released_ms, touched.claim_seq, touched.is_held = None, at.seq, True
        tries = find_tries(self.memory, owner)
        tries.rounds += not tries.is_claiming
        tries.is_claiming = True
        self.memory.attempts = max(self.memory.attempts, tries.rounds)
        self.memory.claim, self.memory.claim_ms = at, now_ms

    def _release(self, touched: Touched, owner: OwnerState, cause: Cause, now_ms: int) -> None:
        is_unasked = touched.is_held and (touched.claim_seq or 0) > self.memory.trigger_seq
        if is_unasked and cause == "event":
            give_back(self.memory, touched, owner, now_ms)
        touched.released_ms, touched.is_held = now_ms, False
        find_tries(self.memory, owner).is_claiming = False


def _describe_trigger(trigger: Trigger) -> Row:
    return {
        "trigger": trigger.word,
        "trigger_member_id": trigger.member_id,
        "trigger_topic": trigger.topic,
        "trigger_exit": trigger.exit,
        "triggers": [trigger.word],
    }
