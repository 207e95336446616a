"""`zklake backfill --heal`: events that could not be read in time get their values.

They are rows of znode_events already, in their place in the log: only what was not known of them is
put in. Then the tables are made anew. It can be cut off anywhere and taken up again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from deltalake.transaction import Transaction

from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.lake.events import make_event_columns
from streaming.lake.horizon import read_horizon
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.lake.rewriting import put_rows, rewrite
from streaming.rebuild import check_names, refuse_ahead
from streaming.remaking import HEALED_MARK, read_mark
from zklake.errors import LakeError
from zklake.events.envelope import TXNLOG_ID, Event, Stat
from zklake.events.topics import name_topics

# What a file of ZooKeeper's says of an event. All else is as the log says.
_HEALED = (
    *("zxid", "data", "data_b64", "data_zlib_b64", "data_hash"),
    *("fidelity", "stat", "origin", "session"),
)
# After an ensemble was restored, zxids of before name other transactions.
_UNREAD = f"""
SELECT log_id, seq, op, path, kind, zxid, observed_at_ms, origin, stat['czxid'] AS czxid,
  stat['mzxid'] AS mzxid, stat['version'] AS version, stat['aversion'] AS aversion,
  stat['ephemeral_owner'] AS ephemeral_owner
FROM znode_events
WHERE fidelity = 'superseded' AND log_id <> '{TXNLOG_ID}' AND path IS NOT NULL
  AND seq > (SELECT coalesce(max(seq), -1) FROM znode_events
    WHERE op = 'gap' AND gap['reason'] = 'history_reset')
ORDER BY seq"""
_STAT = ("czxid", "mzxid", "version", "aversion", "ephemeral_owner")


class Healing:
    """The events of one lake that have no value; all but the first look under the lake's lease."""

    def __init__(self, lake: Lake) -> None:
        """LakeError where nothing is: a wrong address must not look like a lake that is well."""
        if not reading.open_tables(lake.path, lake.cluster):
            raise LakeError(
                f"{lake.path}/{lake.cluster} holds no tables, so there is nothing to heal: check "
                "--lake and --cluster, or let `zklake stream --once` write the log into it first"
            )
        self._lake = lake

    def read_unread(self) -> list[Event]:
        """Events without a value, as far as tables are still made of them."""
        lake, horizons = self._lake, self._read_horizons()
        lake.create_tables()
        progress = read_progress(lake.path, lake.cluster, name_topics(lake.cluster).events)
        if progress.log_id is not None:
            refuse_ahead(lake, check_names(()), progress.log_id, progress.seq)
        table = reading.open_table(lake.path, lake.cluster, ZNODE_EVENTS.name)
        assert table is not None
        rows = reading.query_rows({ZNODE_EVENTS.name: table}, _UNREAD)
        return [
            Event(
                cluster=lake.cluster,
                log_id=row["log_id"],
                seq=row["seq"],
                op=row["op"],
                observed_at_ms=row["observed_at_ms"],
                path=row["path"],
                kind=row["kind"],
                zxid=row["zxid"],
                fidelity="superseded",
                stat=Stat(**{name: row[name] for name in _STAT}),
                origin=row["origin"],
            )
            for row in rows
            if row["seq"] > horizons.get(row["kind"], -1)
        ]

    def put(self, events: Sequence[Event]) -> int:
        """Put values into events; returns how many had none."""
        lake, healed = self._lake, {event.seq: event for event in events}
        delta = reading.open_table(lake.path, lake.cluster, ZNODE_EVENTS.name)
        assert delta is not None
        seqs = sorted(healed)
        mark = Transaction(HEALED_MARK, read_mark(lake, HEALED_MARK) + 1)
        return rewrite(
            delta,
            ZNODE_EVENTS,
            lambda rows: _put(rows, healed),
            choose=lambda file: _may_hold(file.seqs, seqs),
            marks=[mark],
        )

    def _read_horizons(self) -> dict[str, int]:
        """By kind of znode: up to which seq a rebuild leaves rows as they are."""
        found: dict[str, int] = {}
        for table in TABLES:
            if table.is_interval and table.folded != "groups":
                horizon = read_horizon(self._lake, table)
                for kind in table.kinds:
                    found[kind] = max(horizon, found.get(kind, -1))
        return found


def _may_hold(bounds: tuple[int | None, int | None], seqs: Sequence[int]) -> bool:
    """Whether one of these seqs may stand in a file."""
    first, last = bounds
    if first is None or last is None:
        return True
    return bisect_left(seqs, first) < bisect_right(seqs, last)


def _put(rows: pa.Table, healed: Mapping[int, Event]) -> tuple[pa.Table, int]:
    """Rows of znode_events with what was found of them; a seq that came again stays."""
    is_unread = pc.and_(
        pc.equal(rows["fidelity"], "superseded"),
        pc.is_in(rows["seq"], pa.array(healed, pa.int64())),
    )
    places = pc.indices_nonzero(is_unread)
    if not len(places):
        return rows, 0
    held = rows.take(places)
    filled = make_event_columns([healed[seq] for seq in held["seq"].to_pylist()])
    for name in _HEALED:
        field = rows.schema.field(name)
        held = held.set_column(
            rows.schema.get_field_index(name), field, filled[name].cast(field.type)
        )
    return put_rows(rows, places.to_pylist(), held), len(places)
