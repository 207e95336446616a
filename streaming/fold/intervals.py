"""Interval tables: one row per state of one znode, made from the table's definition alone. Pure.

What an event does to its znode is judged in life.py; here it becomes rows. Samples of Kafka-stored
groups make rows of the same tables: each gives the state of one key, or its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from delta_tables.observation import NO_ROW, Observation, read_millis
from delta_tables.samples import KAFKA, Samples
from delta_tables.table import Table
from streaming.fold.context import Context
from streaming.fold.exits import BY_KAFKA, HIDDEN, UNSEEN, Exit
from streaming.fold.frames import Closure
from streaming.fold.life import Moment, find_moment, is_second_half, judge, read_state
from streaming.fold.open_rows import Key, OpenRow, OpenRows, Shard, hash_key
from streaming.fold.payload import read_payload
from streaming.fold.row import StoredRow
from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME

_NO_END = Moment(None, None, None)  # type: ignore[arg-type]
# Of so many paths a batch remembers where their rows stand.
_MOST_SPOTS = 1 << 16
_MINUTE_MS = 60_000


# How a znode of the table left, whose delete this is; asked before anything of it is folded.
FindExit = Callable[[Event, "Spot", Context], Exit]


class Spot(NamedTuple):
    """Where the row of an event stands."""

    key: Key
    # The event's path, split.
    parts: list[str]
    # Of the key.
    hash: int


class IntervalFold:
    """The rows of one table of one cluster."""

    def __init__(self, table: Table, cluster: str, sessions: dict[int, int]) -> None:
        """`sessions`: how many rows of all tables each session holds; kept up to date here."""
        self.table, self.cluster = table, cluster
        # Events up to this seq are in the table already.
        self.marker = -1
        # In a rebuild: events up to this seq may be missing, so its rows begin as they stood then.
        self.horizon = -1
        # Whether the rows of its znodes are made elsewhere for now.
        self.is_elsewhere = False
        self.open = OpenRows()
        self.ended: list[StoredRow] = []
        columns = {column.name: column.read for column in table.made}
        self._key = [columns[name] for name in table.key if name != "cluster"]
        self._depths = {kind: KIND_BY_NAME[kind].pattern.count("/") + 1 for kind in table.kinds}
        payload = [column for column in table.made if column.name not in table.key]
        self._payload = [column.read for column in payload]
        self.payload_names = names = tuple(column.name for column in payload)
        self._session = names.index("session") if "session" in names else None
        self._exit = names.index("exit") if "exit" in names else None
        # Whoever can say how somebody left.
        self.find_exit: FindExit | None = None
        self._sessions = sessions
        self._is_sampled = table.samples is not None
        # Whether rows are held by somebody: a session, or a Kafka-stored group.
        self._is_held = self._session is not None or self._is_sampled
        # By kind and path, for as long as a batch lasts.
        self._spots: dict[str, dict[str, Spot | None]] = {kind: {} for kind in table.kinds}
        # Of Kafka-stored groups: the keys of each.
        self._groups: dict[str, set[Key]] = {}

    @property
    def is_touched(self) -> bool:
        """Whether the lake does not hold all of it."""
        return bool(self.ended) or self.open.is_touched

    def find_spot(self, event: Event) -> Spot | None:
        """Where the event's row stands; None: it makes none."""
        path = event.path or ""
        spots = self._spots[event.kind or ""]
        if path in spots:
            return spots[path]
        if len(spots) >= _MOST_SPOTS:
            spots.clear()
        spot = spots[path] = self._read_spot(event, path.split("/"))
        return spot

    def _read_spot(self, event: Event, parts: list[str]) -> Spot | None:
        if len(parts) != self._depths[event.kind or ""]:
            return None
        seen = Observation(event, parts, None)
        key = tuple([read(seen) for read in self._key])  # type: ignore[misc]
        return None if NO_ROW in key else Spot(key, parts, hash_key(key))

    def find_session(self, key: Key) -> int | None:
        """The session that holds the znode of a key."""
        row = None if self._session is None else self.open.find_shard(key).get(key)
        return None if row is None else self._read_session(row)

    def apply(self, event: Event, spot: Spot, context: Context, inputs: Mapping[str, Any]) -> None:
        """Take an event of one of the table's znodes."""
        key = spot.key
        shard = self.open.find_hashed(spot.hash)
        row = shard.get(key)
        verdict = judge(event, row)
        if verdict == "nothing":
            return
        if row is None:
            self._put(shard, key, self._read(event, spot), event.seq)
        elif verdict == "seen":
            self._see(shard, key, row, event.seq)
        elif verdict == "ended":
            word = self.table.name_delete(context.closes_session, inputs)
            if self.find_exit is not None and word != "migrated":
                self._set_exit(row, self.find_exit(event, spot, context))
            self._end(shard, key, row, context.find_end(event), word)
        else:
            self._succeed(shard, event, spot, row, is_same_life=verdict == "changed")

    def _read(self, event: Event, spot: Spot) -> OpenRow:
        """The state that an event shows."""
        payload, error = read_payload(event)
        seen = Observation(event, spot.parts, payload)
        moment, seq = find_moment(event), event.seq
        return OpenRow(
            [read(seen) for read in self._payload],  # type: ignore[misc]
            *read_state(event),
            payload is not None,
            error,
            0,
            seq,
            seq,
            moment.zxid,
            moment.at_ms,
        )

    def _succeed(
        self, shard: Shard, event: Event, spot: Spot, former: OpenRow, *, is_same_life: bool
    ) -> None:
        """Another state of the znode follows the one that stood."""
        key, row = spot.key, self._read(event, spot)
        if is_same_life and self._is_progress(former, row):
            self._see(shard, key, former, event.seq)
            return
        if is_same_life and row.version is not None and former.version is not None:
            row.unseen_versions = max(0, row.version - former.version - 1)
        self._forget(key, former)
        self._put(shard, key, row, event.seq)
        if event.seq <= self.marker or (
            former.is_blank and is_second_half(event, former, former.from_zxid)
        ):
            return
        word = "recreated"
        if is_same_life:
            word = "changed" if row.decode_error is None else "unreadable"
        else:
            self._set_exit(former, UNSEEN)
        moment = Moment(event.seq, row.from_zxid, row.from_ms)
        self.ended.append(self._write(key, former, moment, word))

    def _is_progress(self, former: OpenRow, row: OpenRow) -> bool:
        """Whether a state only goes on with one that began in the same minute."""
        is_progress, began_ms, ms = self.table.is_progress, former.from_ms, row.from_ms
        if is_progress is None or began_ms is None or ms is None or not row.is_known:
            return False
        if began_ms // _MINUTE_MS != ms // _MINUTE_MS or former.fidelity != row.fidelity:
            return False
        before, after = (
            dict(zip(self.payload_names, r.values, strict=True)) for r in (former, row)
        )
        return is_progress(before, after)

    def apply_samples(self, event: Event, samples: Samples) -> None:
        """Apply an event that gives rows of Kafka-stored groups."""
        named: set[Key] = set()
        places = [self.payload_names.index(name) for name in samples.state]
        moment = Moment(event.seq, None, None)
        for sample in samples.read(event):
            if sample.key in named:
                continue
            named.add(sample.key)
            # Most of one event were made at one time.
            if moment.at_ms != (at_ms := read_millis(sample.at_ms)):
                moment = Moment(event.seq, None, at_ms)
            self._apply_sample(sample.key, sample.values, moment, places)
        group = event.group_state
        if samples.ends_unnamed is not None and group is not None:
            at_ms = event.observed_at_ms if group.at_ms is None else group.at_ms
            moment = Moment(event.seq, None, read_millis(at_ms))
            for key in sorted(self._groups.get(group.group_id, set()) - named):
                self._end_key(key, moment, samples.ends_unnamed(group))

    def _apply_sample(
        self, key: Key, values: Mapping[str, Any] | None, moment: Moment, places: list[int]
    ) -> None:
        shard = self.open.find_shard(key)
        row = shard.get(key)
        if values is None:
            if row is not None:
                self._set_exit(row, BY_KAFKA)
                self._end(shard, key, row, moment, "deleted")
            return
        sampled, seq = [*map(values.get, self.payload_names)], moment.seq
        begun = OpenRow(
            sampled, None, None, "exact", True, None, None, seq, seq, None, moment.at_ms
        )
        if row is None:
            self._put(shard, key, begun, seq)
            return
        former = row.values
        for place in places:
            if former[place] != sampled[place]:
                break
        else:
            self._see(shard, key, row, seq)
            return
        # Of the same group, and no session holds either.
        shard.put(key, begun, touches=seq > self.marker)
        if seq > self.marker:
            self.ended.append(self._write(key, row, moment, "changed"))

    def close(self, closure: Closure, context: Context) -> None:
        """End what was last seen before a complete look began."""
        if closure.coordinator == KAFKA and not self._is_sampled:
            return
        moment = context.find_resync(closure)
        for key, row in self.open.items():
            is_its = not self._is_sampled or key[0] == closure.coordinator
            if is_its and row.seen_seq < closure.begin_seq:
                self._set_exit(row, HIDDEN if closure.coordinator != KAFKA else BY_KAFKA)
                self._end(self.open.find_shard(key), key, row, moment, "resync")

    def close_key(self, key: Key, closure: Closure, moment: Moment) -> None:
        """The same for one znode."""
        row = self.open.find_shard(key).get(key)
        if row is not None and row.seen_seq < closure.begin_seq:
            self._end(self.open.find_shard(key), key, row, moment, "resync")

    def recall(self, key: Key, row: OpenRow) -> None:
        """Take up a row that stood open before."""
        self._count(key, row)
        self.open.find_shard(key).put_packed(key, row)

    def take_over(self, rows: Iterable[tuple[Key, bytes | None]]) -> None:
        """Open rows that were made elsewhere, packed; None: it has ended."""
        for key, packed in rows:
            self.open.find_shard(key).replace(key, packed)

    def settle(self, seq: int) -> None:
        """The lake holds all of it, up to that seq."""
        self.marker = max(self.marker, seq)
        self.ended = []
        self.open.settle()
        for spots in self._spots.values():
            spots.clear()

    def list_rows(self, shard: Shard) -> list[StoredRow]:
        """The rows of a shard as the lake stores them."""
        return [self._write(key, row, _NO_END, None) for key, row in shard.items()]

    def _see(self, shard: Shard, key: Key, row: OpenRow, seq: int) -> None:
        row.seen_seq = seq
        shard.put(key, row, touches=seq > self.marker)

    def _put(self, shard: Shard, key: Key, row: OpenRow, seq: int) -> None:
        """A row begins."""
        self._count(key, row)
        shard.put(key, row, touches=seq > self.marker)

    def _count(self, key: Key, row: OpenRow) -> None:
        """A row is open: its session and its group hold one more."""
        if not self._is_held:
            return
        session = self._read_session(row)
        if session is not None:
            self._sessions[session] = self._sessions.get(session, 0) + 1
        if self._is_sampled and key[0] == KAFKA:
            self._groups.setdefault(key[1], set()).add(key)

    def _forget(self, key: Key, row: OpenRow) -> None:
        """A row is no longer open: its session and its group hold one less."""
        if not self._is_held:
            return
        session = self._read_session(row)
        if session is not None:
            self._sessions[session] -= 1
            if not self._sessions[session]:
                del self._sessions[session]
        if self._is_sampled and key[0] == KAFKA:
            self._groups[key[1]].discard(key)
            if not self._groups[key[1]]:
                del self._groups[key[1]]

    def _end_key(self, key: Key, moment: Moment, word: str) -> None:
        shard = self.open.find_shard(key)
        row = shard.get(key)
        if row is not None:
            self._set_exit(row, BY_KAFKA if word == "deleted" else None)
            self._end(shard, key, row, moment, word)

    def _set_exit(self, row: OpenRow, found: Exit | None) -> None:
        """Set how it left on a row that is about to end, where the table has that column."""
        if self._exit is not None and found is not None:
            row.values[self._exit : self._exit + len(found)] = found

    def _end(self, shard: Shard, key: Key, row: OpenRow, moment: Moment, word: str) -> None:
        self._forget(key, row)
        is_news = moment.seq > self.marker
        shard.drop(key, touches=is_news)
        if is_news:
            self.ended.append(self._write(key, row, moment, word))

    def _write(self, key: Key, row: OpenRow, end: Moment, word: str | None) -> StoredRow:
        """A row's columns; no end lies before its beginning."""
        to_ms, from_ms = end.at_ms, row.from_ms
        is_clamped = to_ms is not None and from_ms is not None and to_ms < from_ms
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
            from_ms,
            end.seq,
            end.zxid,
            from_ms if is_clamped else to_ms,
            end.min_ms,
            is_clamped,
            word,
            word is None,
        )

    def _read_session(self, row: OpenRow) -> int | None:
        session: int | None = None if self._session is None else row.values[self._session]
        return session
