"""How members and brokers left, told when all rows are there: what stood right before, and when.

It looks at rows and moments of the reference; that they are right is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference.fold.log_ends import LogEnds
from tests.reference.fold.payloads import timestamp
from tests.reference.fold.presence import Moment, follow
from tests.reference.fold.states import stat_of
from tests.reference.fold.things import Group
from zklake.events.envelope import Event
from zklake.events.samples import LogEnd

Row = dict[str, Any]
Told = tuple[str | None, str | None]
_LEFT = ("deleted", "session_ended")
_PASSING = ("heartbeat", "log_ends", "group_commit", "group_state", "seq_repeat", "delete")
_GAP = ("unknown", "a gap hid how it left")
_KAFKA = ("unknown", "Kafka keeps the group: who left and who timed out look alike")
_REPLACED = ("unknown", "it was replaced before anybody saw it leave")


def tell_exits(tables: dict[str, list[Row]], events: Sequence[Event]) -> None:
    """Fill the two columns of one cluster's rows in."""
    closes = {
        row["valid_to_seq"]
        for rows in tables.values()
        for row in rows
        if row.get("ended_by") == "session_ended"
    }
    past = _Past(tables, events, follow(list(events), closes))
    for row in tables["consumer_membership"]:
        row["exit"], row["exit_evidence"] = _tell(row, past.tell_member)
    for row in tables["broker_membership"]:
        row["exit"], row["exit_evidence"] = _tell(row, past.tell_broker)


def find_exits(
    tables: dict[str, list[Row]], events: Sequence[Event], moments: list[Moment]
) -> dict[int, str | None]:
    """How the member left whose session a delete ended, by the seq of each such delete."""
    past = _Past(tables, events, moments)
    names = ("consumer_membership", "ownership_history")
    return {
        row["valid_to_seq"]: past.tell_deletion(row)
        for name in names
        for row in tables[name]
        if row["ended_by"] == "session_ended" and row["session"] is not None
    }


def _tell(row: Row, judge: Any) -> Told:
    word = row["ended_by"]
    if word in (None, "changed", "unreadable", "migrated"):
        return None, None
    if row.get("coordinator") == "kafka":
        return _KAFKA
    if word in ("resync", "recreated"):
        return _GAP if word == "resync" else _REPLACED
    told: Told = judge(row)
    return told


class _Past:
    """What stood before any event of one cluster."""

    def __init__(
        self, tables: dict[str, list[Row]], events: Sequence[Event], moments: list[Moment]
    ) -> None:
        self.tables, self.events, self.moments = tables, events, moments
        self.place = {event.seq: number for number, event in enumerate(events)}
        self.ends: list[dict[tuple[str, int], int | None]] = []
        log_ends, entries = LogEnds(), list[LogEnd]()
        now: dict[tuple[str, int], int | None] = {}
        for number, event in enumerate(events):
            if event.log_ends is not None:
                entries += event.log_ends.partitions
                if event.log_ends.round is not None:
                    log_ends.take(moments[: number + 1], entries, event.log_ends.round)
                    entries = []
                    standing = [row for row in log_ends.rows if row["is_open"]]
                    now = {(r["topic"], r["partition"]): r["log_end_offset"] for r in standing}
            self.ends.append(now)

    def is_hidden(self, number: int) -> bool:
        return self.moments[number].is_blind or self.events[number].origin == "resync"

    def tell_member(self, row: Row) -> Told:
        last = self.place[row["valid_to_seq"]]
        if self.is_hidden(last):
            return _GAP
        if row["session"] is None:
            return "unknown", "its session is not known"
        return self.tell_session(row)

    def tell_deletion(self, row: Row) -> str | None:
        """In a word, also where nobody saw everything."""
        is_hidden = self.is_hidden(self.place[row["valid_to_seq"]])
        return "unknown" if is_hidden else self.tell_session(row)[0]

    def tell_session(self, row: Row) -> Told:
        """Of a row of a member or of an owner: how the session ended that held it."""
        last, session = self.place[row["valid_to_seq"]], row["session"]
        first = self._find_first(row, last) if row["ended_by"] == "session_ended" else last
        if first == 0:
            return "unknown", "it owned nothing"
        before, ends = self.moments[first - 1], self.ends[first - 1]
        group = Group("zookeeper", row["group_id"])
        seen_ms = self.events[first].observed_at_ms
        late = self._list_lateness(first)
        held = [
            ((s.topic, s.partition), one, before.commits.get(s), ends.get((s.topic, s.partition)))
            for s, one in sorted(before.owners.items())
            if s.group == group and one.session == session
        ]
        if not held:
            return "unknown", "it owned nothing"
        # Of commits since the claim, the one that is known to be newest.
        own = [
            (seen_ms - commit.at - min(late), seen_ms - commit.at - max(late), key)
            for key, owner, commit, _ in held
            if commit is not None and commit.at is not None and commit.seq > owner.seq
        ]
        if own:
            most, least, (topic, partition) = min(own)
            if most <= 1_000:
                return "clean", f"it committed {topic}-{partition} {max(0, most)} ms before"
            if least <= 2_000:
                return "unknown", f"its last commit was {least} to {most} ms before"
        return self._tell_silence(held, seen_ms, max(late))

    def _tell_silence(self, held: list[Any], seen_ms: int, late_ms: int) -> Told:
        silences = []
        for _, owner, commit, end in held:
            claimed_ms = self._find_time(owner.seq)
            if commit is None or commit.offset is None or end is None or claimed_ms is None:
                continue
            silent_ms = seen_ms - late_ms - max(claimed_ms, commit.at or 0)
            if 0 <= commit.offset < end and silent_ms > 2_000:
                silences.append((silent_ms, end - commit.offset))
        if not silences:
            return "unknown", "nothing is known to have waited for it that it did not commit"
        silent_ms, records = min(silences)[0], sum(records for _, records in silences)
        if silent_ms > 120_000:
            return "unknown", "it had committed nothing for long, though records waited"
        return "crashed", f"no commit in its last {silent_ms} ms, and {records} records waited"

    def _find_time(self, seq: int) -> int | None:
        """When the state began that an event told of an owner."""
        event = self.events[self.place[seq]]
        stat = stat_of(event)
        own = stat.ctime if event.op == "create" else stat.mtime
        return timestamp(event.observed_at_ms if own is None else own)

    def _list_lateness(self, until: int) -> list[int]:
        """How late the last sixteen commits were seen."""
        late = []
        for event in self.events[: until + 1]:
            stat = stat_of(event)
            own = timestamp(stat.ctime if event.op == "create" else stat.mtime)
            is_seen = event.kind == "offset" and event.op in ("create", "set")
            if is_seen and event.origin in ("watch", "txnlog") and own is not None:
                late.append(event.observed_at_ms - own)
        return late[-16:] or [0]

    def _find_first(self, row: Row, last: int) -> int:
        """Where the first znode of the session went that is the group's."""
        gone = {
            one["valid_to_seq"]
            for table in ("consumer_membership", "ownership_history")
            for one in self.tables[table]
            if one["ended_by"] == "session_ended" and one["session"] == row["session"]
            if one["group_id"] == row["group_id"]
        }
        first = number = last
        while number >= 0 and self.events[number].op in _PASSING:
            if self.events[number].seq in gone:
                first = number
            number -= 1
        return first

    def tell_broker(self, row: Row) -> Told:
        number = self.place[row["valid_to_seq"]]
        if self.is_hidden(number):
            return _GAP
        seq, seen_ms = row["valid_to_seq"], self.events[number].observed_at_ms
        broker = row["broker_id"]
        led = followed = taken = 0
        for state in self._list_standing("partition_state", seq):
            isr = state["isr"]
            if isr is None:
                continue
            if state["leader"] == broker:
                led += bool({*isr} - {broker})
            elif broker in isr:
                followed += 1
            else:
                began = state["valid_from_at"]
                is_new = began is not None and seen_ms - began <= 30_000
                taken += is_new and broker in self._find_replicas(state, seq)
        if led:
            return "crashed", f"it still led {led} partitions that others could have led"
        if followed:
            return "crashed", f"it was still in the ISR of {followed} partitions"
        if taken:
            return "clean", f"{taken} partitions were taken from it right before"
        return "unknown", "it led nothing, and was in no ISR"

    def _find_replicas(self, state: Row, seq: int) -> list[int]:
        for topic in self._list_standing("topics", seq):
            if topic["topic"] == state["topic"] and topic["broker_id"] is None:
                found: list[int] = (topic["replicas"] or {}).get(state["partition"], [])
                return found
        return []

    def _list_standing(self, table: str, seq: int) -> list[Row]:
        """Rows as they stood right before an event."""
        return [
            row
            for row in self.tables[table]
            if row["valid_from_seq"] < seq and (row["is_open"] or row["valid_to_seq"] >= seq)
        ]
