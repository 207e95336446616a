"""`zklake backfill`: events that were read from ZooKeeper's own files become a lake's past.

They are added to znode_events, before all that a log has brought; then the tables are made anew
(remaking.py). How far it has come stands in Delta's transaction markers of znode_events, so it can
be taken up again, and a second time changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.lake.horizon import read_horizon
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.lake.writer import Mark
from streaming.log.continuity import Entry
from streaming.rebuild import check_names, refuse_ahead
from streaming.remaking import ADDED_MARK, is_made, read_mark
from zklake.errors import LakeError
from zklake.events.envelope import RECORDED_ORIGINS, TXNLOG_ID, Event
from zklake.events.topics import name_topics

# Such events stand nowhere in Kafka.
_NO_OFFSET, _NO_TOPIC = -1, ""
_LIVE = f"FROM znode_events WHERE log_id <> '{TXNLOG_ID}'"
_CHANGES = f"AND origin IN {RECORDED_ORIGINS} AND op IN ('create', 'set', 'delete')"


class LiveStart(NamedTuple):
    """Where the log begins that the past must meet."""

    seq: int
    at_ms: int
    # The first change that the watcher saw, where its transaction is known, and how many it saw
    # before that one. 0: it saw none; then all up to `seen_zxid` is the past's.
    zxid: int
    unnumbered: int
    seen_zxid: int


class Past(NamedTuple):
    """What a lake has of the time before its log: up to which transaction, seq and time."""

    first_zxid: int | None
    zxid: int | None
    seq: int
    at_ms: int
    # Whether the whole tree was known then.
    is_known: bool
    is_folded: bool
    live: LiveStart | None


class Backfill:
    """The past of one lake, in the making; under the lake's lease."""

    def __init__(self, lake: Lake) -> None:
        self._lake, self._topic = lake, name_topics(lake.cluster).events
        lake.create_tables()

    def read_past(self) -> Past:
        """How far it has come; LakeError where the past cannot be joined to what there is."""
        lake = self._lake
        added = read_mark(lake, ADDED_MARK)
        last = self._query(
            "max(seq) AS seq, max(observed_at_ms) AS at_ms, "
            "min(zxid) FILTER (WHERE op = 'gap') AS zxid, "
            "max(seq) FILTER (WHERE op = 'in_sync') AS known_seq, "
            "max(seq) FILTER (WHERE gap['reason'] <> 'txnlog_end') AS hidden_seq "
            f"FROM znode_events WHERE log_id = '{TXNLOG_ID}'"
        )[0]
        seq = -1 if last["seq"] is None else last["seq"]
        progress = read_progress(lake.path, lake.cluster, self._topic)
        if progress.log_id is not None:
            refuse_ahead(lake, check_names(()), progress.log_id, progress.seq)
        past = Past(
            last["zxid"],
            None if added < 0 else added,
            seq,
            last["at_ms"] or 0,
            last["known_seq"] is not None and last["known_seq"] > (last["hidden_seq"] or 0),
            is_made(lake),
            self._find_live(),
        )
        self._refuse_trimmed(past)
        return past

    def append(self, events: Iterable[Event], zxid: int | None) -> None:
        """Add events; with the last of them everything up to that transaction is in the lake."""
        entries = [Entry(event, _NO_OFFSET) for event in events]
        files = self._lake.write_events(entries, _NO_TOPIC)
        mark = None if zxid is None else Mark(ADDED_MARK, zxid)
        self._lake.find_writer(ZNODE_EVENTS).append_files(files, mark)

    def _query(self, what: str) -> list[dict[str, Any]]:
        table = reading.open_table(self._lake.path, self._lake.cluster, ZNODE_EVENTS.name)
        assert table is not None
        return reading.query_rows({ZNODE_EVENTS.name: table}, f"SELECT {what}")

    def _find_live(self) -> LiveStart | None:
        first = self._query(f"seq, observed_at_ms {_LIVE} ORDER BY seq LIMIT 1")
        if not first:
            return None
        seq, at_ms = first[0]["seq"], first[0]["observed_at_ms"]
        known = self._query(
            f"seq, zxid {_LIVE} {_CHANGES} AND zxid IS NOT NULL ORDER BY seq LIMIT 1"
        )
        if not known:
            seen = self._query(f"max(zxid) AS zxid {_LIVE}")[0]["zxid"]
            return LiveStart(seq, at_ms, 0, 0, seen or 0)
        before = self._query(f"count(*) AS n {_LIVE} {_CHANGES} AND seq < {known[0]['seq']}")
        return LiveStart(seq, at_ms, known[0]["zxid"], before[0]["n"], known[0]["zxid"] - 1)

    def _refuse_trimmed(self, past: Past) -> None:
        """Tables whose oldest events are gone go on from their rows: no past fits before those."""
        lake = self._lake
        for name in check_names(()):
            if read_horizon(lake, TABLE_BY_NAME[name]) > past.seq and past.live is not None:
                raise LakeError(
                    f"old records of the lake {lake.path}/{lake.cluster} are trimmed "
                    "(maintenance.sample_days, maintenance.retention), so nothing can be put "
                    "before them any more. Backfill into a lake of its own: --lake"
                )
