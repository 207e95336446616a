"""admin_operations: requests under /admin, and moves that the topics show.

Each znode says something of some operations: what it says now is put, what it no longer says is
taken away. `operations` makes rows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from streaming.fold.context import Context
from streaming.fold.frames import Closure
from streaming.fold.life import (
    State,
    find_moment,
    is_echo,
    is_new_life,
    is_state,
    is_touch,
    read_life,
)
from streaming.fold.operations import Key, Name, Operations, Source
from streaming.fold.payload import read_value
from streaming.fold.row import Row
from zklake.events.envelope import RECORDED_ORIGINS, Event
from zklake.events.payloads.admin import PartitionList, Reassignment
from zklake.events.payloads.topic import Topic

KINDS = ("reassignment", "preferred_election", "topic_deletion", "topic")
# What is missing may have been the deletion of a topic.
OPS = ("seq_hole",)


class Said(NamedTuple):
    """What a state of a znode says, and the word for what it no longer says."""

    sources: dict[Key, Source]
    find_word: Callable[[Key, Source], str]


class Znode(NamedTuple):
    """Which operations a znode speaks of, as what, and what its deletion means to them."""

    operation: str
    topic: str | None
    name: Name
    deleted: str
    read: Callable[[Event, State], Said]


class AdminOperations:
    """The operations of one cluster."""

    name = "admin_operations"

    def __init__(self, cluster: str, rows: Iterable[Row] = ()) -> None:
        self._operations = Operations(cluster)
        for row in rows:
            self._operations.recall(row)

    def concerns(self, event: Event, context: Context) -> bool:
        """Whether an event may change a row."""
        return event.kind in KINDS or event.op in OPS or context.closure is not None

    def apply(self, event: Event, context: Context) -> None:
        """Take one event."""
        if context.closure is not None:
            _resync(self._operations, context.closure, context)
            _forget_topics(self._operations)
        elif event.op in OPS:
            _forget_topics(self._operations)
        elif (znode := _find_znode(event)) is not None:
            _follow(self._operations, znode, event, context)

    def take(self) -> tuple[list[Row], list[Row]]:
        """(the rows that are open, those that have ended since)."""
        return self._operations.take()


def _find_znode(event: Event) -> Znode | None:
    parts = (event.path or "").split("/")
    topic = parts[3] if len(parts) == 4 else None
    match event.kind:
        case "reassignment" | "preferred_election":
            return Znode(event.kind, None, "request", "finished", _read_request)
        case "topic_deletion" if topic is not None:
            return Znode(event.kind, topic, "request", "finished", _read_deletion)
        case "topic" if topic is not None:
            return Znode("reassignment", topic, "move", "deleted", _read_moves)
    return None


def _follow(operations: Operations, znode: Znode, event: Event, context: Context) -> None:
    found = operations.find(znode.operation, znode.topic, znode.name)
    if event.kind == "topic" and event.op in ("create", "delete"):
        operations.set_topic(operations.find("topic_deletion", znode.topic, "request"), False)
    if event.op == "delete":
        # Between a gap and in_sync the topic may be gone, and nobody has said it yet.
        is_seen = event.origin in RECORDED_ORIGINS and not context.is_blind
        for key, source in found.items():
            word = "refused" if is_seen and source.has_topic else znode.deleted
            operations.drop(key, (znode.name,), context.find_end(event), word)
    elif is_touch(event):
        operations.see(found, znode.name, event.seq)
    elif is_state(event):
        _take_state(operations, znode, event, found)


def _take_state(
    operations: Operations, znode: Znode, event: Event, found: dict[Key, Source]
) -> None:
    czxid = next((s.life.czxid for s in found.values() if s.life.czxid is not None), None)
    is_other = bool(found) and is_new_life(event, czxid)
    life = read_life(event, None if is_other else czxid)
    said = znode.read(event, life)
    unread, moment = Key(znode.operation), find_moment(event)
    former = found.get(unread)
    if former is not None and unread in said.sources and is_echo(event, former.life):
        operations.see((unread,), znode.name, event.seq)
        return
    if not is_other:
        operations.learn(found, znode.name, life.czxid)
    for key, source in found.items():
        # Of a request that cannot be read, each state is a row of its own.
        if is_other or key not in said.sources or key == unread:
            word = "recreated" if is_other else said.find_word(key, source)
            operations.drop(key, (znode.name,), moment, word)
    former_topics = {} if is_other else {key: source.has_topic for key, source in found.items()}
    for key, source in said.sources.items():
        has_topic = former_topics.get(key, source.has_topic)
        kept = msgspec.structs.replace(source, has_topic=has_topic)
        operations.put(key, znode.name, kept, moment)


def _read_request(event: Event, life: State) -> Said:
    """Partitions that stood in the list and no longer do are done."""
    kind, (payload, error) = event.kind or "", read_value(event)
    if isinstance(payload, Reassignment):
        moves = {Key(kind, m.topic, m.partition): m.replicas for m in payload.partitions}
        sources = {key: Source(life, event.seq, [*replicas]) for key, replicas in moves.items()}
    elif isinstance(payload, PartitionList):
        sources = {
            Key(kind, p.topic, p.partition): Source(life, event.seq) for p in payload.partitions
        }
    else:
        unread = Source(life, event.seq, decode_error=error, is_known=False)
        return Said({Key(kind): unread}, lambda key, source: _find_loss(error))
    return Said(sources, lambda key, source: "changed" if key.topic is None else "finished")


def _read_deletion(event: Event, life: State) -> Said:
    """Its mere existence says it all. The topic goes first, the request last."""
    key = Key("topic_deletion", (event.path or "").split("/")[3])
    is_asked = event.op == "create" and event.origin in RECORDED_ORIGINS
    source = Source(life, event.seq, has_topic=True if is_asked else None)
    return Said({key: source}, lambda key, source: "finished")


def _read_moves(event: Event, life: State) -> Said:
    """While a partition moves, its replicas are the wanted ones and those to be removed."""
    topic, (payload, error) = (event.path or "").split("/")[3], read_value(event, Topic())
    if not isinstance(payload, Topic):
        return Said({}, lambda key, source: _find_loss(error))
    assigned, sources = payload.partitions, {}
    for partition in {*payload.adding_replicas, *payload.removing_replicas} & {*assigned}:
        adding = payload.adding_replicas.get(partition, ())
        removing = payload.removing_replicas.get(partition, ())
        if adding or removing:
            wanted = [r for r in assigned[partition] if r not in removing]
            key = Key("reassignment", topic, partition)
            sources[key] = Source(life, event.seq, wanted, [*adding], [*removing])

    def find_word(key: Key, source: Source) -> str:
        replicas = assigned.get(key.partition or 0)
        is_done = replicas is not None and {*replicas} == {*(source.replicas or ())}
        return "finished" if is_done else "cancelled"

    return Said(sources, find_word)


def _find_loss(error: str | None) -> str:
    """The word for what ends because the next state is not known."""
    return "changed" if error is None else "unreadable"


def _forget_topics(operations: Operations) -> None:
    operations.set_topic(list(operations.open), None)


def _resync(operations: Operations, closure: Closure, context: Context) -> None:
    moment = context.find_resync(closure)
    names: tuple[Name, ...] = ("request", "move")
    for key, held in list(operations.open.items()):
        stale = []
        for name in names:
            source: Source | None = getattr(held.sources, name)
            if source is not None and source.seen_seq < closure.begin_seq:
                stale.append(name)
        if stale:
            operations.drop(key, stale, moment, "resync")
