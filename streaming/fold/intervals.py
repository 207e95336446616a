"""Interval tables: one row per state of one znode, made from the table's definition alone. Pure.

What an event does to its znode is judged in life.py; here it becomes rows. Samples of Kafka-stored
groups make rows of the same tables: each tells the state of one key, or that it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from delta_tables.observation import NO_ROW, Observation, read_millis
from delta_tables.samples import KAFKA, Samples
from delta_tables.table import Table
from streaming.fold.context import Context
from streaming.fold.frames import Closure
from streaming.fold.life import (
    Moment,
    Verdict,
    find_moment,
    is_second_half,
    judge,
    read_state,
)
from streaming.fold.open_rows import Key, OpenRow, OpenRows
from streaming.fold.payload import read_payload
from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME

# A closed row: its columns in stored order, up to ended_by.
ClosedRow = tuple[Any, ...]


class IntervalFold:
    """The rows of one table of one cluster."""

    def __init__(self, table: Table, cluster: str, sessions: dict[int, int]) -> None:
        """`sessions`: how many rows of all tables each session holds; kept up to date here."""
        self.table, self.cluster = table, cluster
        # Events up to this seq are in the table already.
        self.marker = -1
        # In a rebuild: events up to this seq may be missing, so its rows begin as they stood then.
        self.horizon = -1
        self.open = OpenRows()
        self.ended: list[ClosedRow] = []
        self._sessions = sessions
        self._depths = {kind: KIND_BY_NAME[kind].pattern.count("/") + 1 for kind in table.kinds}
        columns = {column.name: column.read for column in table.made}
        self._key = [columns[name] for name in table.key if name != "cluster"]
        payload = [column for column in table.made if column.name not in table.key]
        self._payload = [column.read for column in payload]
        self.payload_names = tuple(column.name for column in payload)
        self._session = (
            self.payload_names.index("session") if "session" in self.payload_names else None
        )
        # Of Kafka-stored groups: the keys of each.
        self._groups: dict[str, set[Key]] = {}

    @property
    def is_touched(self) -> bool:
        """Whether the lake does not hold all of it."""
        return bool(self.ended or self.open.touched)

    def find_key(self, event: Event) -> Key | None:
        """The key of the event's row; None: it makes none."""
        parts = (event.path or "").split("/")
        if len(parts) != self._depths[event.kind or ""]:
            return None
        seen = Observation(event, parts, None)
        key = tuple([read(seen) for read in self._key])  # type: ignore[misc]
        return None if NO_ROW in key else key

    def find_session(self, key: Key) -> int | None:
        """The session that holds the znode of a key."""
        row = None if self._session is None else self.open.get(key)
        return None if row is None else self._read_session(row)

    def apply(self, event: Event, key: Key, context: Context, inputs: Mapping[str, Any]) -> Verdict:
        """Take an event of one of the table's znodes; what it did to the znode."""
        row = self.open.get(key)
        verdict = judge(event, None if row is None else row.state)
        if verdict == "seen" and row is not None:
            row.seen_seq = event.seq
            self._put(key, row, event.seq)
        elif verdict == "ended" and row is not None:
            word = self.table.name_delete(context.closes_session, inputs)
            self._end(key, row, context.find_end(event), word)
        elif verdict in ("born", "changed", "recreated"):
            self._begin(event, key, row, verdict)
        return verdict

    def _begin(self, event: Event, key: Key, former: OpenRow | None, verdict: Verdict) -> None:
        payload, error = read_payload(event)
        seen = Observation(event, (event.path or "").split("/"), payload)
        state, moment = read_state(event), find_moment(event)
        row = OpenRow(
            [read(seen) for read in self._payload],  # type: ignore[misc]
            *state,
            payload is not None,
            error,
            0,
            event.seq,
            event.seq,
            moment.zxid,
            moment.at_ms,
        )
        if former is not None:
            if verdict == "changed" and None not in (state.version, former.version):
                row.unseen_versions = max(0, state.version - former.version - 1)  # type: ignore[operator]
            if former.is_blank and is_second_half(event, former.state, former.from_zxid):
                self._drop(key, former, event.seq)
            else:
                word = "unreadable" if verdict == "changed" and error is not None else verdict
                self._end(key, former, moment, word)
        self._put(key, row, event.seq, is_new=True)

    def apply_samples(self, event: Event, samples: Samples) -> None:
        """Take an event that tells rows of Kafka-stored groups."""
        named: set[Key] = set()
        for key, values, at_ms in samples.read(event):
            if key not in named:
                named.add(key)
                self._apply_sample(event, key, values, read_millis(at_ms), samples)
        group = event.group_state
        if samples.ends_unnamed is not None and group is not None:
            at_ms = event.observed_at_ms if group.at_ms is None else group.at_ms
            moment = Moment(event.seq, None, read_millis(at_ms))
            for key in sorted(self._groups.get(group.group_id, set()) - named):
                row = self.open.get(key)
                assert row is not None
                self._end(key, row, moment, samples.ends_unnamed(group))

    def _apply_sample(
        self,
        event: Event,
        key: Key,
        values: Mapping[str, Any] | None,
        at_ms: int | None,
        samples: Samples,
    ) -> None:
        row, moment = self.open.get(key), Moment(event.seq, None, at_ms)
        if values is None:
            if row is not None:
                self._end(key, row, moment, "deleted")
            return
        told = [values.get(name) for name in self.payload_names]
        if row is not None:
            places = [self.payload_names.index(name) for name in samples.state]
            if all(row.values[place] == told[place] for place in places):
                row.seen_seq = event.seq
                self._put(key, row, event.seq)
                return
            self._end(key, row, moment, "changed")
        begun = OpenRow(
            told, None, None, "exact", True, None, None, event.seq, event.seq, None, at_ms
        )
        self._put(key, begun, event.seq, is_new=True)

    def close(self, closure: Closure, context: Context) -> None:
        """End what was last seen before a complete look began."""
        is_sampled = self.table.samples is not None
        if closure.coordinator == KAFKA and not is_sampled:
            return
        moment = context.find_resync(closure)
        for key, row in self.open.items():
            is_its = not is_sampled or key[0] == closure.coordinator
            if is_its and row.seen_seq < closure.begin_seq:
                self._end(key, row, moment, "resync")

    def recall(self, key: Key, row: OpenRow) -> None:
        """Take up a row that stood open before."""
        self._put(key, row, -1, is_new=True)

    def settle(self, seq: int) -> None:
        """The lake holds all of it, up to that seq."""
        self.marker = max(self.marker, seq)
        self.ended = []
        self.open.touched.clear()

    def list_shard(self, number: int) -> list[ClosedRow]:
        """The rows of one shard, in the form of closed ones."""
        return [self._write(key, row) for key, row in self.open.items_of(number)]

    def _put(self, key: Key, row: OpenRow, seq: int, *, is_new: bool = False) -> None:
        if is_new:
            session = self._read_session(row)
            if session is not None:
                self._sessions[session] = self._sessions.get(session, 0) + 1
            if key and key[0] == KAFKA and self.table.samples is not None:
                self._groups.setdefault(key[1], set()).add(key)
        self.open.put(key, row, touches=seq > self.marker)

    def _drop(self, key: Key, row: OpenRow, seq: int) -> None:
        session = self._read_session(row)
        if session is not None:
            self._sessions[session] -= 1
            if not self._sessions[session]:
                del self._sessions[session]
        if key and key[0] == KAFKA and self.table.samples is not None:
            self._groups[key[1]].discard(key)
            if not self._groups[key[1]]:
                del self._groups[key[1]]
        self.open.drop(key, touches=seq > self.marker)

    def _end(self, key: Key, row: OpenRow, moment: Moment, word: str) -> None:
        self._drop(key, row, moment.seq)
        if moment.seq > self.marker:
            self.ended.append(self._write(key, row, moment, word))

    def _write(
        self, key: Key, row: OpenRow, moment: Moment | None = None, word: str | None = None
    ) -> ClosedRow:
        """A row's columns in stored order; no end lies before its beginning."""
        to_seq, to_zxid, to_ms, to_min_ms = moment or (None, None, None, None)
        is_clamped = to_ms is not None and row.from_ms is not None and to_ms < row.from_ms
        return (
            self.cluster,
            *key,
            *row.values,
            row.czxid,
            row.version,
            row.fidelity,
            row.is_known,
            row.decode_error,
            row.unseen_versions,
            row.seen_seq,
            row.from_seq,
            row.from_zxid,
            row.from_ms,
            to_seq,
            to_zxid,
            row.from_ms if is_clamped else to_ms,
            to_min_ms,
            is_clamped,
            word,
            moment is None,
        )

    def _read_session(self, row: OpenRow) -> int | None:
        session: int | None = None if self._session is None else row.values[self._session]
        return session
