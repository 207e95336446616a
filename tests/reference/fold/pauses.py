"""The consumption_pauses table: told plainly, one group's partition at a time, event by event."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.lag_facts import is_of_another
from tests.reference.fold.log_ends import Row
from tests.reference.fold.pause_silence import Round, Silence, find_rounds
from tests.reference.fold.pause_spans import Paint, Piece, Tenure, measure, paint
from tests.reference.fold.payloads import timestamp
from tests.reference.fold.presence import Moment
from tests.reference.fold.rebalance_changes import split
from tests.reference.fold.states import OPEN, is_touch, stat_of
from tests.reference.fold.things import Commit, Subject
from tests.reference.fold.values import value_of
from zklake.events.envelope import Event

_RESULTS = ("held_ms", "least_ms", "most_ms", "usual_ms", "records", "records_waiting", "spans")


def fold_pauses(moments: list[Moment], lag_rows: list[Row]) -> list[Row]:
    """All rows of one cluster; `lag_rows`: those of offset_lag, which say who is followed when."""
    rounds = find_rounds(moments)
    # Rows change only at rounds.
    moments = [moment for moment in moments if moment.event.seq <= max(rounds, default=-1)]
    names = ("coordinator", "group_id", "topic", "partition")
    subjects = {Subject(*(row[name] for name in names)) for row in lag_rows}
    rows = []
    for subject in sorted(subjects):
        mine = [row for row in lag_rows if all(row[n] == getattr(subject, n) for n in names)]
        watch = _Watch(subject, mine)
        for number, moment in enumerate(moments):
            watch.take(moments[: number + 1], rounds.get(moment.event.seq))
        rows += watch.tell()
    return rows


class _Watch:
    """One subject, and its rows so far."""

    def __init__(self, subject: Subject, lag_rows: list[Row]) -> None:
        self.subject, self.lag_rows = subject, lag_rows
        self.partition = (subject.topic, subject.partition)
        self.rows: list[Row] = []
        self.silence: Silence | None = None
        self.incarnation: int | None = None
        # Where the log ended by the last round.
        self.log_end: int | None = None

    def take(self, moments: list[Moment], ended: Round | None) -> None:
        """One event."""
        now = moments[-1]
        if self.silence is not None:
            self._see(now, self.silence)
        if ended is None:
            return
        known = ended.ends.get(self.partition)
        if not (now.is_blind and self.subject.coordinator == "zookeeper"):
            self._judge(moments, ended, known)
        self.log_end = known["log_end_offset"] if known else None

    def _see(self, now: Moment, silence: Silence) -> None:
        event = now.event
        is_gap = event.op == "gap" and event.path == "/" and event.gap and event.gap.lives is None
        if event.op == "seq_hole" or (is_gap and self.subject.coordinator == "zookeeper"):
            silence.is_hidden = True
        if event.kind == "partition_state":
            self._see_leader(event, silence)
        for move in now.moves:
            if move.what == "commit" and move.key == self.subject and move.after is not None:
                self._see_commit(move.after, event)
            elif move.what == "owner" and move.key == self.subject:
                self._see_owner(move, now)

    def _see_leader(self, event: Event, silence: Silence) -> None:
        if event.path != "/brokers/topics/{}/partitions/{}/state".format(*self.partition):
            return
        if event.op == "unreadable" or is_touch(event):
            return
        said = {} if event.op == "delete" else value_of(event).columns
        isr: list[int] = list(said.get("isr") or ())
        at = _find_own_time(event)
        going = [p for p in silence.paints if p.held == "leader_away" and p.to is None]
        if said.get("leader") == -1:
            if not going:
                broker = isr[0] if len(isr) == 1 else None
                silence.paints.append(Paint("leader_away", at, None, event.seq, broker=broker))
        elif going:
            going[0].to = at

    def _see_owner(self, move: Any, now: Moment) -> None:
        event, changes = now.event, split(move, now.event)
        if self.subject.coordinator == "kafka" and len(changes) == 2:
            # Kafka says who has it now: nobody let go in between.
            changes = [changes[1]._replace(cause=move.cause)]
        for change in changes:
            silence = self.silence
            assert silence is not None
            silence.is_hidden |= change.cause in ("inferred", "resync", "seen")
            if change.after is not None:
                for each in silence.paints:
                    if each.held == "unowned" and each.to is None:
                        each.to = event.observed_at_ms
                at = event.observed_at_ms
                silence.lose(at, event.seq)
                who = change.after.owner, change.after.member_id
                silence.tenures.append(Tenure(who, at))
            else:
                self._lose_owner(silence, change, now)

    def _lose_owner(self, silence: Silence, change: Any, now: Moment) -> None:
        at, seq = now.event.observed_at_ms, now.event.seq
        who = change.before.owner, change.before.member_id
        if change.cause == "session_ended" and silence.begin and at - silence.at > 2000:
            begin = max(silence.begin[0], silence.tenures[-1].at)
            if begin < at:
                silence.paints.append(Paint("owner_crashed", begin, at, seq, who))
        if self.subject.group not in now.unassigned_groups:
            silence.paints.append(Paint("unowned", at, None, seq, who))
        silence.lose(at, seq)

    def _see_commit(self, commit: Commit, event: Event) -> None:
        silence = self.silence
        assert silence is not None
        if commit.offset is None or commit.offset < 0:
            return
        if commit.offset <= silence.offset:
            silence.offset = commit.offset
            return
        seen = event.observed_at_ms
        at = max(seen if commit.at is None else min(commit.at, seen), silence.at)
        if silence.began is not None:
            at = max(at, silence.began[0])
        self._end(at, event, "progress", self.log_end, commit.offset)
        waits = silence.waits
        if silence.began is not None:
            began = silence.began[0]
            if not any(each.reaches(began, at) for each in silence.paints):
                waits = [*waits, at - began]
        self.silence = Silence(commit.offset, at, event.seq, self.log_end, waits)
        if silence.owner is not None:
            self.silence.tenures = [Tenure(silence.owner, 0)]
        self.silence.paints = [
            each for each in silence.paints if each.held == "leader_away" and each.to is None
        ]

    def _judge(self, moments: list[Moment], ended: Round, known: Row | None) -> None:
        now, event = moments[-1], moments[-1].event
        at, is_followed = event.observed_at_ms, self._is_followed(event.seq)
        commit = now.commits.get(self.subject)
        if commit is None or commit.offset is None or commit.offset < 0:
            is_of_log = False
        else:
            is_of_log = known is not None and not is_of_another(self.subject, commit, moments)
        if not is_followed or not is_of_log:
            self._drop(at, event)
            return
        assert known is not None
        if self.silence is not None and self.incarnation != known["incarnation"]:
            self._drop(at, event)
        if self.partition not in ended.vouched:
            return
        assert commit is not None
        assert commit.offset is not None
        if self.silence is None:
            self.incarnation = known["incarnation"]
            own = at if commit.at is None else min(commit.at, at)
            self.silence = Silence(commit.offset, own, commit.seq, None, [])
            self.silence.tenures = self._find_tenures(own, moments)
        self._look(self.silence, known["log_end_offset"], commit, ended, event)

    def _look(self, silence: Silence, end: int, commit: Commit, ended: Round, event: Event) -> None:
        """A round vouches for where the log ends."""
        at = event.observed_at_ms
        if end > silence.offset:
            if silence.began is None:
                silence.began = (at, event.seq) if silence.empty_at is not None else silence.begin
            silence.is_told |= silence.is_pause(at)
            if silence.is_told and not silence.is_stuck:
                silence.is_stuck = self._is_stuck(silence, at)
        elif commit.seq <= ended.after_seq:
            if silence.began is not None:
                self._end(at, event, "emptied", end)
            silence.began, silence.empty_at, silence.is_told = None, at, False
            silence.is_stuck = False
            silence.paints = [each for each in silence.paints if each.to is None]
            silence.tenures = [each for each in silence.tenures if each.to is None]

    def _is_followed(self, seq: int) -> bool:
        return any(
            row["valid_from_seq"] <= seq and (row["is_open"] or row["valid_to_seq"] > seq)
            for row in self.lag_rows
        )

    def _drop(self, at: int, event: Event) -> None:
        if self.silence is not None and self.silence.began is not None:
            self._end(at, event, "deleted", None)
        self.silence = None

    def _end(
        self, at: int, event: Event, word: str, end: int | None, offset: int | None = None
    ) -> None:
        silence = self.silence
        assert silence is not None
        if silence.begin is None or not (silence.is_told or silence.is_pause(at)):
            return
        began = silence.begin[0]
        pieces = self._paint(silence, at)
        row = self._write(silence, _find_longest(pieces) if not silence.is_hidden else None)
        row |= {
            "most_ms": at - (began if silence.empty_at is None else silence.empty_at),
            "usual_ms": silence.usual,
            "records": None if None in (end, silence.end) else max(0, end - silence.end),  # type: ignore[operator]
            "records_waiting": _find_waiting(silence, end, offset),
        }
        if silence.is_hidden:
            row["reason"] = "gap"
        else:
            row |= measure(pieces, 60_000 if silence.usual is None else silence.usual)
            row["reason"] = "no_log_end" if row["records"] is None else None
        row |= {
            "valid_to_seq": event.seq,
            "valid_to_at": at,
            "ended_by": word,
            "is_open": False,
        }
        self.rows.append(row)

    def _find_tenures(self, committed_at: int, moments: list[Moment]) -> list[Tenure]:
        """At the first sight of it, of who has the partition then; the time before is not known."""
        owner = moments[-1].owners.get(self.subject)
        if owner is None:
            return []
        who = owner.owner, owner.member_id
        event = next(moment.event for moment in moments if moment.event.seq == owner.seq)
        since = min(_find_own_time(event), moments[-1].event.observed_at_ms)
        if since <= committed_at:
            return [Tenure(who, 0)]
        return [Tenure(None, 0, since), Tenure(who, since)]

    def _paint(self, silence: Silence, at: int) -> list[Piece]:
        assert silence.begin is not None
        old = self.subject.coordinator == "zookeeper"
        began = silence.begin[0]
        return paint(silence.paints, silence.tenures, began, at, silence.limit, old=old)

    def _is_stuck(self, silence: Silence, at: int) -> bool:
        """Whether who has the partition now is stuck by now."""
        if silence.owner is None or any(each.to is None for each in silence.paints):
            return False
        last = self._paint(silence, at)[-1:]
        return [(each.held, each.to) for each in last] == [("owner_stuck", at)]

    def tell(self) -> list[Row]:
        """All rows."""
        silence = self.silence
        if silence is None or not silence.is_told:
            return self.rows
        return [*self.rows, self._write(silence, self._find_present(silence))]

    def _find_present(self, silence: Silence) -> Piece:
        assert silence.begin is not None
        for held in ("leader_away", "unowned"):
            for each in silence.paints:
                if each.held == held and each.to is None:
                    return Piece(held, 0, 0, each.seq, each.who, each.broker)
        if not silence.is_stuck:
            # What is over, less what only time can tell of who has it now.
            ends = [each.to for each in silence.paints] + [each.to for each in silence.tenures]
            ends += [each.at for each in silence.tenures]
            until = max((to for to in ends if to is not None), default=0)
            longest = (
                _find_longest(self._paint(silence, until)) if until > silence.begin[0] else None
            )
            if longest is not None:
                return longest
        if silence.owner is not None:
            return Piece("owner_stuck", 0, 0, None, silence.owner)
        return Piece("unowned" if self.subject.coordinator == "zookeeper" else "unknown", 0, 0)

    def _write(self, silence: Silence, held: Piece | None) -> Row:
        assert silence.begin is not None
        held = held or Piece("unknown", 0, 0)
        owner, member_id = held.who or (None, None)
        began, seq = silence.begin
        return {
            "cluster": self.lag_rows[0]["cluster"],
            **self.subject._asdict(),
            "incarnation": self.incarnation,
            "committed_offset": silence.offset,
            "held": held.held,
            "owner": owner,
            "owner_member_id": member_id,
            "broker_id": held.broker,
            "event_seq": held.seq,
            **dict.fromkeys((*_RESULTS, "reason")),
            **{name: value for name, value in OPEN.items() if name != "closed_on"},
            "seen_seq": seq,
            "valid_from_seq": seq,
            "valid_from_zxid": None,
            "valid_from_at": timestamp(began),
        }


def _find_waiting(silence: Silence, end: int | None, offset: int | None) -> int | None:
    known = [each - silence.offset for each in (end, offset) if each is not None]
    return max(0, *known) if known else None


def _find_own_time(event: Event) -> int:
    stat = stat_of(event)
    own = {"create": stat.ctime, "set": stat.mtime, "read": stat.mtime}.get(event.op)
    if event.group_state is not None:
        own = event.group_state.at_ms
    return timestamp(event.observed_at_ms if own is None else own) or event.observed_at_ms


def _find_longest(pieces: list[Piece]) -> Piece | None:
    """What held longest; by whom, if more than one did the same; the first time."""
    found: Piece | None = None
    most = (0, 0)
    for piece in pieces:
        same = [each for each in pieces if each.held == piece.held]
        his = [each for each in same if (each.who, each.broker) == (piece.who, piece.broker)]
        size = (sum(e.to - e.at for e in same), sum(e.to - e.at for e in his))
        if size > most:
            found, most = piece, size
    return found
