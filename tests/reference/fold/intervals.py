"""The interval tables, whose rows need nothing but their own key's events (and closures)."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.keys import Place
from tests.reference.fold.payloads import timestamp
from tests.reference.fold.states import (
    State,
    begin,
    end,
    end_by_next,
    is_echo,
    is_other_life,
    is_second_half,
    is_touch,
    stat_of,
    unseen_before,
)
from tests.reference.fold.values import host_of
from zklake.events.envelope import Event

Row = dict[str, Any]
Key = tuple[Any, ...]


class Intervals:
    """All rows of one table of one cluster, and the state that stands for each key."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.states: list[State] = []
        self.standing: dict[Key, State] = {}

    def take(self, event: Event, place: Place) -> None:
        """A create, set or read: a state begins, or the standing one is seen again."""
        key = place.identity
        standing = self.standing.get(key)
        if is_touch(event):
            if standing is not None:
                standing.see(event)
            return
        if standing is not None and is_echo(standing, event):
            standing.see(event)
            return
        self._begin(event, place, key, standing)

    def _begin(self, event: Event, place: Place, key: Key, former: State | None) -> None:
        state = begin(event)
        state.row.update(place.key)
        state.row.update(_columns_beside(self.table, event, place))
        if former is not None and _only_moves(former.row, state.row, event):
            former.see(event)
            return
        state.row["unseen_versions"] = unseen_before(
            former.row if former else None, state.row, event
        )
        if self.table in ("partition_state", "consumer_offsets", "cluster_state"):
            # Always persistent: they have no such column.
            del state.row["session"]
        if former is not None and is_second_half(former, event):
            self.states.remove(former)
        elif former is not None:
            end_by_next(former.row, state, event)
        self.states.append(state)
        self.standing[key] = state

    def delete(self, event: Event, place: Place, at_min: int | None) -> State | None:
        """The state that stood ends; None when there was none."""
        state = self.standing.pop(place.identity, None)
        if state is not None:
            at = timestamp(event.observed_at_ms)
            end(state.row, "deleted", event.seq, event.zxid, at, at_min)
        return state

    def close_unseen(
        self, event: Event, begin_seq: int, at_min: int | None, coordinator: str = "zookeeper"
    ) -> None:
        """A closure: what no event showed since the frame began is gone."""
        for key, state in list(self.standing.items()):
            is_its = state.row.get("coordinator", "zookeeper") == coordinator
            if is_its and state.seen_seq < begin_seq:
                del self.standing[key]
                end(state.row, "resync", event.seq, None, timestamp(event.observed_at_ms), at_min)


def _only_moves(former: Row, row: Row, event: Event) -> bool:
    """The migration came further, in the minute in which the former row began."""
    is_other = event.op == "create" or is_other_life(former, stat_of(event).czxid)
    if row.get("name") != "migration" or is_other:
        return False
    times = [one["valid_from_at"] for one in (former, row)]
    offsets = [one["kraft_metadata_offset"] for one in (former, row)]
    if None in times or None in offsets or min(offsets) < 0:
        return False
    same = ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_epoch", "fidelity")
    is_same = all(former[name] == row[name] for name in same)
    return is_same and times[0] // 60_000 == times[1] // 60_000


def _columns_beside(table: str, event: Event, place: Place) -> Row:
    """Columns made from the stat or the name: known whatever the data says."""
    if table == "broker_membership":
        return {"broker_epoch": stat_of(event).czxid}
    if table == "topics":
        return {"incarnation": stat_of(event).czxid}
    if table == "consumer_membership":
        host = host_of(place.key["group_id"], place.key["member_id"])
        return {"host": host, **dict.fromkeys(("client_id", "group_instance_id", "generation"))}
    if table == "cluster_state":
        return {"name": event.kind, "data_hash": event.data_hash, **_resource_of(event)}
    return {}


def _resource_of(event: Event) -> Row:
    """Whose rights they are: it stands in the path."""
    pattern_type = {"acl": "LITERAL", "prefixed_acl": "PREFIXED"}.get(event.kind or "")
    names: list[str | None] = [None, None]
    if pattern_type is not None:
        names = [*(event.path or "").split("/")[-2:]]
    return {"resource_type": names[0], "resource": names[1], "pattern_type": pattern_type}
