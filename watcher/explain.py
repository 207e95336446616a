"""What happened to one znode, as far as its watch events and one read show. Pure.

ZooKeeper sends the events of a change before any read reply that shows it, on one connection. So
a reply shows the state after exactly the events received before it: the last of them gets its
data, the earlier ones were superseded, and `version` counts whether any event is missing.
"""

from __future__ import annotations

from typing import NamedTuple

from watcher.drafts import Draft, publish_stat
from watcher.messages import (
    CHANGED,
    CREATED,
    DELETED,
    NO_NODE,
    OK,
    Reply,
    WatchEvent,
    ZnodeStat,
)
from watcher.tree import UNKNOWN_VERSION, ZnodeRow, row_of
from zklake.events.envelope import Op, Origin, Stat

_NOTHING_KNOWN = ZnodeRow(0, 0, UNKNOWN_VERSION, 0, 0, unread=True)


class Explanation(NamedTuple):
    """Drafts in order: what the events could not show, what each by_event, what the read adds."""

    before: list[Draft]
    by_event: list[list[Draft]]
    after: list[Draft]
    row: ZnodeRow | None


def explain(
    path: str,
    row: ZnodeRow | None,
    events: list[WatchEvent],
    reply: Reply | None,
    *,
    trusted: bool,
    origin: Origin = "resync",
    lost_origin: Origin = "resync",
) -> Explanation:
    """Tell the story of one path from `row` through `events` to `reply`.

    trusted: `row` is the state just before the first event. Else a gap lies between the two.
    reply None: nothing was read (a delete needs no read; or the connection broke first).
    lost_origin: of what must have happened in sight though no event by_event it.
    """
    found = reply.stat if reply is not None and reply.error == OK else None
    before: list[Draft] = []
    state = row
    if events and not trusted:
        before = bridge(path, row, events, found, origin)
        state = before[-1].row if before else _uncounted(row, events, found)
    by_event: list[list[Draft]] = []
    alive_from = _begin_of_life(events)
    for index, event in enumerate(events):
        life = found if index >= alive_from else None
        drafts = _draft_event(path, state, event, life, lost_origin)
        state = drafts[-1].row
        by_event.append(drafts)
    if reply is None:
        return Explanation(before, by_event, [], state)
    if found is not None and events and _is_explained(state, found):
        by_event[-1][-1] = _with_value(by_event[-1][-1], events[-1], reply.data, found)
        return Explanation(before, by_event, [], row_of(found))
    after = difference(path, state, reply, origin)
    return Explanation(before, by_event, after, after[-1].row if after else state)


def difference(path: str, old: ZnodeRow | None, reply: Reply, origin: Origin) -> list[Draft]:
    """What must have happened between `old` and a read, with no event for it."""
    stat = reply.stat
    if stat is None:
        return _not_found(path, old, reply.error, origin)
    if old is None:
        return [_appeared(path, stat, reply.data, origin)]
    if _is_other_life(old, stat):
        return [_vanished(path, old, origin), _appeared(path, stat, reply.data, origin)]
    is_counted = old.czxid and old.version != UNKNOWN_VERSION and not old.unreadable
    if is_counted and stat.version > old.version:
        return [_written(path, stat, reply.data, origin, stat.version - old.version - 1)]
    if row_of(stat)._replace(mzxid=old.mzxid) != old:
        # Its value was never read, its ACL changed, it became readable, or nobody can say whether
        # it is the same life: no write is claimed.
        return [_seen(path, stat, reply.data, origin)]
    return []


def bridge(
    path: str,
    row: ZnodeRow | None,
    events: list[WatchEvent],
    found: ZnodeStat | None,
    origin: Origin,
) -> list[Draft]:
    """What a gap hid of a path whose first event after it is already here."""
    gone = [] if row is None else [_vanished(path, row, origin)]
    if events[0].type == CREATED:
        return gone
    if found is None or any(event.type != CHANGED for event in events):
        # The life that was going on has ended, or cannot be read: how often it was changed in the
        # gap is hidden; that it was there is certain.
        return [_born_unseen(path, origin, None)] if row is None else []
    base = found._replace(version=found.version - len(events))
    if row is None or _is_other_life(row, base):
        return [*gone, _born_unseen(path, origin, base)]
    if not row.czxid or row.version == UNKNOWN_VERSION:
        return [_named(path, base, origin)]
    if base.version > row.version:
        missed = base.version - row.version - 1
        return [_written_unseen(path, row._replace(version=base.version), origin, missed)]
    return []


def _uncounted(
    row: ZnodeRow | None, events: list[WatchEvent], found: ZnodeStat | None
) -> ZnodeRow | None:
    """A gap that no read bridged: nobody can say which life this is, nor count its versions."""
    if row is None or (found is not None and all(event.type == CHANGED for event in events)):
        return row
    return _NOTHING_KNOWN._replace(mzxid=row.mzxid)


def _is_other_life(old: ZnodeRow, stat: ZnodeStat) -> bool:
    """Deleted and created again since: czxid first, an equal version proves nothing."""
    if old.czxid:
        return old.czxid != stat.czxid
    return 0 < old.mzxid < stat.czxid or stat.version < old.version


def _begin_of_life(events: list[WatchEvent]) -> int:
    """The index from which on all events lie in the life that goes on after the last of them."""
    first = 0
    for index, event in enumerate(events):
        if event.type == DELETED:
            first = index + 1
        elif event.type == CREATED:
            first = index
    return first


def _draft_event(
    path: str,
    state: ZnodeRow | None,
    event: WatchEvent,
    life: ZnodeStat | None,
    lost_origin: Origin,
) -> list[Draft]:
    """The drafts of one watch event, its value still unknown."""
    zxid = event.zxid if event.zxid > 0 else None
    if event.type == CREATED:
        # A create where we knew a znode: its delete was hidden from us.
        lost = [] if state is None else [_vanished(path, state, lost_origin)]
        czxid = life.czxid if life else (zxid or 0)
        owner = life.ephemeral_owner if life else 0
        row = ZnodeRow(czxid, czxid, 0, 0, owner, unread=True)
        return [*lost, _draft_unread("create", path, row, zxid or czxid or None)]
    lost = [] if state is not None else [_born_unseen(path, lost_origin, None)]
    known = state or _NOTHING_KNOWN
    if event.type == DELETED:
        gone = Draft(
            "delete", path, "watch", stat=known.stat(), zxid=zxid, zxid_min=known.mzxid or None
        )
        return [*lost, gone]
    version = known.version if known.version == UNKNOWN_VERSION else known.version + 1
    owner = known.ephemeral_owner
    row = ZnodeRow(known.czxid, zxid or 0, version, known.aversion, owner, True, known.unreadable)
    return [*lost, _draft_unread("set", path, row, zxid)]


def _draft_unread(op: Op, path: str, row: ZnodeRow, zxid: int | None) -> Draft:
    return Draft(op, path, "watch", "superseded", row.stat(), zxid, row=row)


def _is_explained(state: ZnodeRow | None, found: ZnodeStat) -> bool:
    """Do the events alone lead to what was read?"""
    if state is None or state.version != found.version:
        return False
    return state.czxid in (0, found.czxid)


def _with_value(draft: Draft, event: WatchEvent, data: bytes | None, found: ZnodeStat) -> Draft:
    """The last event's version is the one that was read: its data is exact."""
    own = found.czxid if event.type == CREATED else found.mzxid
    zxid = event.zxid if event.zxid > 0 else own
    # A by_event draft has no other fields than these.
    return Draft(
        draft.op, draft.path, "watch", "exact", publish_stat(found), zxid, None, None, data,
        row_of(found),
    )  # fmt: skip


def _vanished(path: str, old: ZnodeRow, origin: Origin) -> Draft:
    return Draft("delete", path, origin, stat=old.stat(), zxid_min=old.mzxid or None)


def _appeared(path: str, stat: ZnodeStat, data: bytes | None, origin: Origin) -> Draft:
    """Created while nobody looked; in a first scan no change is claimed."""
    if origin == "scan":
        return _seen(path, stat, data, origin)
    missed = stat.version or None
    return Draft(
        "create",
        path,
        origin,
        stat=publish_stat(stat),
        zxid=stat.czxid,
        missed=missed,
        data=data,
        row=row_of(stat),
    )


def _written(path: str, stat: ZnodeStat, data: bytes | None, origin: Origin, missed: int) -> Draft:
    return Draft(
        "set",
        path,
        origin,
        stat=publish_stat(stat),
        zxid=stat.mzxid,
        missed=missed or None,
        data=data,
        row=row_of(stat),
    )


def _seen(path: str, stat: ZnodeStat, data: bytes | None, origin: Origin) -> Draft:
    return Draft(
        "read",
        path,
        origin,
        stat=publish_stat(stat),
        zxid=stat.mzxid,
        data=data,
        row=row_of(stat),
    )


def _not_found(path: str, old: ZnodeRow | None, error: int, origin: Origin) -> list[Draft]:
    """Gone; or ZooKeeper's ACL keeps it from us, which is said once."""
    if error == NO_NODE:
        return [] if old is None else [_vanished(path, old, origin)]
    if old is not None and old.unreadable:
        return []
    row = (old or _NOTHING_KNOWN)._replace(unreadable=True, unread=False)
    stat = Stat() if old is None else old.stat()
    return [Draft("unreadable", path, origin, "unreadable", stat, row=row)]


def _born_unseen(path: str, origin: Origin, base: ZnodeStat | None) -> Draft:
    """It must have been created in the gap; its first values were never seen."""
    row = _NOTHING_KNOWN
    if base is not None:
        row = ZnodeRow(
            base.czxid, 0, base.version, base.aversion, base.ephemeral_owner, unread=True
        )
    op = Draft("create", path, origin, "superseded", row.stat(), row.czxid or None, row=row)
    if origin == "scan":
        return op._replace(op="read")
    return op._replace(missed=base.version or None) if base is not None else op


def _written_unseen(path: str, row: ZnodeRow, origin: Origin, missed: int) -> Draft:
    unread = row._replace(mzxid=0, unread=True)
    return Draft(
        "set", path, origin, "superseded", unread.stat(), missed=missed or None, row=unread
    )


def _named(path: str, base: ZnodeStat, origin: Origin) -> Draft:
    """Life and version count are known again, though the value was superseded."""
    fresh = ZnodeRow(base.czxid, 0, base.version, base.aversion, base.ephemeral_owner, unread=True)
    return Draft("read", path, origin, "superseded", fresh.stat(), row=fresh)
