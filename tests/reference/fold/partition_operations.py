"""What is under way with single partitions: asked for under /admin, or seen moving in the topic.

A reassignment may be both, and is one row; a preferred election is only ever a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.reference.fold.moves import Key, Move, Replicas, find_moves, find_wishes, has_arrived
from tests.reference.fold.states import is_touch
from tests.reference.fold.step_states import (
    Cause,
    Life,
    StepRow,
    Told,
    is_new_life,
    learn,
    read_told,
)
from zklake.events.envelope import Event

Row = dict[str, Any]


class PartitionOperations:
    """One kind of request, all its rows of one cluster."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self.states: list[StepRow] = []
        self.open: dict[Key, StepRow] = {}
        self.requests: dict[Key, Replicas | None] = {}
        # The row of a request that could not be read.
        self.unread: StepRow | None = None
        self.life: Life | None = None
        self.moves: dict[Key, Move] = {}
        # By topic, while something of it moves.
        self.moving: dict[str, Life] = {}

    # The request under /admin.

    def take_request(self, event: Event) -> None:
        """A create, set, read or unreadable of the znode under /admin."""
        if is_touch(event):
            if self.life is not None:
                self._see_requests(event)
            return
        told, cause = read_told(event), Cause(event)
        if told.payload is None and self.unread is not None and self.unread.is_echoed(event):
            self._see_requests(event)
            return
        if is_new_life(self.life, event):
            self._withdraw("recreated", cause)
        self.life = self.life or Life()
        learn(self.life, event, self._list_open())
        if told.payload is None:
            self._withdraw(told.word, cause, keep_life=True)
            self._begin_unread(told, cause)
        else:
            self._end_unread("changed", cause)
            self.requests = find_wishes(told.payload)
            self._settle(cause, "finished")
        self._see_requests(event)
        self._forget()

    def delete_request(self, event: Event, at_min: int | None) -> None:
        """The controller is done with all of it, or somebody else is."""
        self._withdraw("finished", Cause(event, at_min))

    def _withdraw(self, word: str, cause: Cause, *, keep_life: bool = False) -> None:
        self._end_unread(word, cause)
        self.requests = {}
        self._settle(cause, word)
        if not keep_life:
            self.life = None

    def _begin_unread(self, told: Told, cause: Cause) -> None:
        columns = {"is_inferred": False, "is_known": False, "decode_error": told.decode_error}
        self.unread = self._begin(None, cause, self.life, cause.event, columns)

    def _end_unread(self, word: str, cause: Cause) -> None:
        if self.unread is not None:
            self.unread.end(word, cause)
            self.unread = None

    def _see_requests(self, event: Event) -> None:
        assert self.life is not None
        self.life.seen_seq = event.seq
        for row in (*(self.open[key] for key in self.requests), self.unread):
            if row is not None:
                row.see(event)

    def _forget(self) -> None:
        """A znode without rows does not stand."""
        if not self.requests and self.unread is None:
            self.life = None

    # The replicas of a topic.

    def take_topic(self, event: Event, topic: str) -> None:
        """A create, set, read or unreadable of a topic's znode."""
        life, moving = self.moving.get(topic), self._list_moving(topic)
        if is_touch(event):
            if life is not None:
                self._see_moves(event, life, moving)
            return
        told, cause = read_told(event), Cause(event)
        if is_new_life(life, event):
            self._stop(moving, cause, "recreated")
            self.moving.pop(topic)
            life, moving = None, []
        moves = {} if told.payload is None else find_moves(topic, told.payload, event)
        if not moves and not moving:
            return
        life = self.moving.setdefault(topic, life or Life())
        learn(life, event, self._list_open())
        words = {key: self._name_end(key, told) for key in moving if key not in moves}
        for key in words:
            del self.moves[key]
        self.moves |= moves
        self._settle(cause, words)
        self._see_moves(event, life, moves)
        if not moves:
            del self.moving[topic]

    def delete_topic(self, event: Event, topic: str, at_min: int | None) -> None:
        """What moved will not arrive."""
        self._stop(self._list_moving(topic), Cause(event, at_min), "deleted")
        self.moving.pop(topic, None)

    def _list_moving(self, topic: str) -> list[Key]:
        return [key for key in self.moves if key[0] == topic]

    def _stop(self, keys: Iterable[Key], cause: Cause, word: str) -> None:
        for key in keys:
            del self.moves[key]
        self._settle(cause, word)

    def _see_moves(self, event: Event, life: Life, keys: Iterable[Key]) -> None:
        life.seen_seq = event.seq
        for key in keys:
            self.open[key].see(event)

    def _name_end(self, key: Key, told: Told) -> str:
        """Why a partition moves no longer, by a value of the same topic's life."""
        if told.payload is None:
            return told.word
        return "finished" if has_arrived(self.moves[key], key, told.payload) else "cancelled"

    # Both.

    def close_unseen(self, event: Event, begin_seq: int, at_min: int | None) -> None:
        """A closure: what no event showed since the frame began is gone."""
        cause = Cause(event, at_min)
        if self.life is not None and self.life.seen_seq < begin_seq:
            self._end_unread("resync", cause)
            self.requests, self.life = {}, None
        for topic, life in list(self.moving.items()):
            if life.seen_seq < begin_seq:
                for key in self._list_moving(topic):
                    del self.moves[key]
                del self.moving[topic]
        self._settle(cause, "resync")

    def _settle(self, cause: Cause, word: str | Mapping[Key, str]) -> None:
        """Make the rows those of the requests and moves there are now."""
        for key in {**self.open, **self.requests, **self.moves}:
            row, is_wanted = self.open.get(key), key in self.requests or key in self.moves
            wanted = self._find_wanted(key)
            if row is not None and not is_wanted:
                row.end(word if isinstance(word, str) else word[key], cause)
                del self.open[key]
            elif row is not None and row.row["replicas"] != wanted:
                row.end("changed", cause)
                self._open(key, wanted, cause)
            elif row is None:
                self._open(key, wanted, cause)
            elif key in self.requests:
                row.row["is_inferred"] = False
            if key in self.open and key in self.moves:
                self._tell_move(self.open[key], self.moves[key])

    def _find_wanted(self, key: Key) -> list[int] | None:
        replicas = self.requests.get(key)
        if key not in self.requests and key in self.moves:
            replicas = self.moves[key].target
        return None if replicas is None else list(replicas)

    def _open(self, key: Key, wanted: list[int] | None, cause: Cause) -> None:
        """Of the request, or of the move that shows where there is none, or none any more."""
        is_asked = key in self.requests
        life, event = self.life, cause.event
        if not is_asked:
            life, event = self.moving[key[0]], self.moves[key].event
        columns = {"replicas": wanted, "is_inferred": not is_asked}
        self.open[key] = self._begin(key, cause, life, event, columns)

    def _tell_move(self, row: StepRow, move: Move) -> None:
        row.row |= {"adding_replicas": list(move.adding), "removing_replicas": list(move.removing)}

    def _begin(
        self, key: Key | None, cause: Cause, life: Life | None, told_by: Event, columns: Row
    ) -> StepRow:
        topic, partition = key or (None, None)
        nothing = dict.fromkeys(("replicas", "adding_replicas", "removing_replicas"))
        named = {"operation": self.operation, "topic": topic, "partition": partition}
        row = StepRow(cause, {**nothing, **named, **columns}, life, told_by)
        self.states.append(row)
        return row

    def _list_open(self) -> list[StepRow]:
        return [*self.open.values(), *([self.unread] if self.unread else [])]
