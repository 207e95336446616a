"""The admin_operations table: what the controller was asked, or seen to do, until it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.reference.fold.partition_operations import PartitionOperations
from tests.reference.fold.states import is_touch
from tests.reference.fold.step_states import Cause, Life, StepRow, is_new_life, learn
from zklake.events.envelope import Event

Row = dict[str, Any]

# A topic's znode shows replicas that move; it is folded into a table of its own too.
KINDS = ("reassignment", "preferred_election", "topic_deletion", "topic")
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
_DELETION = re.compile(r"/admin/delete_topics/([^/]+)")


class AdminOperations:
    """All rows of one cluster."""

    def __init__(self) -> None:
        self.reassignments = PartitionOperations("reassignment")
        self.elections = PartitionOperations("preferred_election")
        self.deletions = Deletions()

    @property
    def states(self) -> Iterator[StepRow]:
        """All rows, operation by operation."""
        for part in (self.reassignments, self.elections, self.deletions):
            yield from part.states

    def take(self, event: Event) -> None:
        """A create, set, read or unreadable."""
        if event.kind == "reassignment":
            self.reassignments.take_request(event)
        elif event.kind == "preferred_election":
            self.elections.take_request(event)
        elif event.kind == "topic":
            if found := _TOPIC.fullmatch(event.path or ""):
                self.reassignments.take_topic(event, found[1])
                if event.op == "create":
                    self.deletions.intact.discard(found[1])
        elif found := _DELETION.fullmatch(event.path or ""):
            self.deletions.take(event, found[1])

    def delete(self, event: Event, at_min: int | None, *, is_blind: bool) -> None:
        """A request is gone, or a topic."""
        if event.kind == "reassignment":
            self.reassignments.delete_request(event, at_min)
        elif event.kind == "preferred_election":
            self.elections.delete_request(event, at_min)
        elif event.kind == "topic":
            if found := _TOPIC.fullmatch(event.path or ""):
                self.reassignments.delete_topic(event, found[1], at_min)
                self.deletions.intact.discard(found[1])
        elif found := _DELETION.fullmatch(event.path or ""):
            self.deletions.delete(event, found[1], at_min, is_blind=is_blind)

    def miss(self) -> None:
        """Events are missing from the log: any topic may be gone."""
        self.deletions.intact.clear()

    def close_unseen(self, event: Event, begin_seq: int, at_min: int | None) -> None:
        """A closure: what no event showed since the frame began is gone."""
        for part in (self.reassignments, self.elections, self.deletions):
            part.close_unseen(event, begin_seq, at_min)
        self.deletions.intact.clear()


class Deletions:
    """Topics that shall be deleted: the znode is all there is to it, whatever its data."""

    def __init__(self) -> None:
        self.states: list[StepRow] = []
        self.open: dict[str, StepRow] = {}
        # Topics whose deletion was seen to be asked for, and that have not gone since.
        self.intact: set[str] = set()

    def take(self, event: Event, topic: str) -> None:
        """It is asked for, or still is."""
        row = self.open.get(topic)
        if is_touch(event):
            if row is not None:
                row.see(event)
            return
        if row is not None and is_new_life(row.life, event):
            self.open.pop(topic).end("recreated", Cause(event))
            self.intact.discard(topic)
            row = None
        if row is None:
            self._begin(event, topic)
            return
        assert row.life is not None
        learn(row.life, event, [row])
        row.see(event)

    def _begin(self, event: Event, topic: str) -> None:
        life = Life()
        learn(life, event, [])
        nothing = dict.fromkeys(("partition", "replicas", "adding_replicas", "removing_replicas"))
        columns: Row = {"operation": "topic_deletion", "topic": topic, "is_inferred": False}
        self.open[topic] = StepRow(Cause(event), {**nothing, **columns}, life)
        self.states.append(self.open[topic])
        if event.op == "create" and event.origin in ("watch", "txnlog"):
            self.intact.add(topic)

    def delete(self, event: Event, topic: str, at_min: int | None, *, is_blind: bool) -> None:
        """It is done: the controller deletes the topic first. If the topic is still there, it
        will not be deleted. What was only inferred may come in any order."""
        is_refused = topic in self.intact and event.origin in ("watch", "txnlog") and not is_blind
        self.intact.discard(topic)
        if topic in self.open:
            word = "refused" if is_refused else "finished"
            self.open.pop(topic).end(word, Cause(event, at_min))

    def close_unseen(self, event: Event, begin_seq: int, at_min: int | None) -> None:
        """A closure."""
        for topic, row in list(self.open.items()):
            if row.row["seen_seq"] < begin_seq:
                self.open.pop(topic).end("resync", Cause(event, at_min))
