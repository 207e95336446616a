"""The operations that are under way in one cluster, and the znodes that show each of them.

A reassignment is shown by a request under /admin, by the topic's adding and removing replicas (a
move), or by both: it stands while either does, and is one row. Everything else has only a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec

from streaming.fold.life import Moment, State, write_life
from streaming.fold.row import Row, end_row, open_row

Name = Literal["request", "move"]


class Key(NamedTuple):
    """What an operation is about; without a topic: a request that could not be read."""

    operation: str
    topic: str | None = None
    partition: int | None = None


class Source(msgspec.Struct, frozen=True):
    """What one znode says of an operation, and when it last did."""

    life: State
    seen_seq: int
    replicas: list[int] | None = None
    adding: list[int] | None = None
    removing: list[int] | None = None
    decode_error: str | None = None
    is_known: bool = True
    # Of a deletion that was asked for before our eyes: whether its topic still stands.
    has_topic: bool | None = None


class Sources(msgspec.Struct, frozen=True):
    """Who shows an operation; it travels in fold_state."""

    request: Source | None = None
    move: Source | None = None
    # Whose life the row describes.
    began_by: Name = "request"

    @property
    def governing(self) -> Source | None:
        """The one whose word counts."""
        return self.request or self.move


@dataclass
class Operation:
    """An open row, and who shows it."""

    row: Row
    sources: Sources


@dataclass
class Operations:
    """The open rows of one cluster, and those that ended."""

    cluster: str
    open: dict[Key, Operation] = field(default_factory=dict)
    by_topic: dict[str | None, set[Key]] = field(default_factory=dict)
    ended: list[Row] = field(default_factory=list)

    def recall(self, row: Row) -> None:
        """Take up a row that stood open before."""
        sources = msgspec.json.decode(row["fold_state"], type=Sources)
        key = Key(row["operation"], row["topic"], row["partition"])
        self._add(key, Operation(dict(row), sources))

    def find(self, operation: str, topic: str | None, name: Name) -> dict[Key, Source]:
        """What stands by the word of such a znode; `topic` None: of all topics."""
        keys = self.open if topic is None else self.by_topic.get(topic, ())
        return {
            key: source
            for key in keys
            if key.operation == operation
            and (source := getattr(self.open[key].sources, name)) is not None
        }

    def see(self, keys: Iterable[Key], name: Name, seq: int) -> None:
        """A znode was seen, and its word stands."""
        for key in keys:
            held = self.open[key]
            source = msgspec.structs.replace(getattr(held.sources, name), seen_seq=seq)
            held.sources = msgspec.structs.replace(held.sources, **{name: source})
            held.row["seen_seq"] = seq

    def set_topic(self, keys: Iterable[Key], has_topic: bool | None) -> None:
        """Of deletions: whether their topic still stands; None: nobody knows any more."""
        for key in keys:
            held = self.open[key]
            if held.sources.request is not None and held.sources.request.has_topic:
                request = msgspec.structs.replace(held.sources.request, has_topic=has_topic)
                held.sources = msgspec.structs.replace(held.sources, request=request)

    def learn(self, keys: Iterable[Key], name: Name, czxid: int | None) -> None:
        """The life of a znode is known now; rows that it began may not have known it."""
        for key in keys:
            held = self.open[key]
            if held.row["czxid"] is None and held.sources.began_by == name:
                held.row["czxid"] = czxid

    def put(self, key: Key, name: Name, source: Source, moment: Moment) -> None:
        """A znode says this of an operation."""
        sources = self.open[key].sources if key in self.open else Sources()
        self._turn(key, msgspec.structs.replace(sources, **{name: source}), moment, "changed")
        row = self.open[key].row
        row["seen_seq"] = moment.seq
        if name == "move":
            row |= {"adding_replicas": source.adding, "removing_replicas": source.removing}

    def drop(self, key: Key, names: Iterable[Name], moment: Moment, word: str) -> None:
        """These znodes no longer say anything of an operation."""
        gone = dict.fromkeys(names)
        self._turn(key, msgspec.structs.replace(self.open[key].sources, **gone), moment, word)

    def _turn(self, key: Key, sources: Sources, moment: Moment, word: str) -> None:
        held, source = self.open.get(key), sources.governing
        former = held.sources.governing if held else None
        if held and former and source and former.replicas == source.replicas:
            held.sources = sources
            held.row["is_inferred"] &= sources.request is None
            return
        if held:
            end_row(held.row, moment, word if source is None else "changed")
            held.row["fold_state"] = None
            self.ended.append(self.open.pop(key).row)
            self.by_topic[key.topic].remove(key)
        if source:
            name: Name = "request" if sources.request else "move"
            sources = msgspec.structs.replace(sources, began_by=name)
            self._add(key, Operation(self._begin(key, sources, source, moment), sources))

    def _add(self, key: Key, operation: Operation) -> None:
        self.open[key] = operation
        self.by_topic.setdefault(key.topic, set()).add(key)

    def _begin(self, key: Key, sources: Sources, source: Source, moment: Moment) -> Row:
        columns: dict[str, Any] = key._asdict() | write_life(source.life)
        return open_row(
            self.cluster,
            moment.seq,
            moment.zxid,
            moment.at_ms,
            **columns,
            replicas=source.replicas,
            adding_replicas=sources.move.adding if sources.move else None,
            removing_replicas=sources.move.removing if sources.move else None,
            is_inferred=sources.request is None,
            is_known=source.is_known,
            decode_error=source.decode_error,
            fold_state=None,
        )

    def take(self) -> tuple[list[Row], list[Row]]:
        """(the rows that are open, with what must be remembered; those that have ended since)."""
        for held in self.open.values():
            held.row["fold_state"] = msgspec.json.encode(held.sources).decode()
        ended, self.ended = self.ended, []
        return [held.row for held in self.open.values()], ended
