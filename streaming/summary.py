"""What a batch holds, learned in one job: which tables it touches, how far it goes, and the few
events that the driver itself must follow (ephemerals, frames, gaps, those of the step tables).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame, Row

from delta_tables.table import Table
from streaming.continuity import REPEATED, count_breaks_sql
from streaming.marks import concerns, touches
from streaming.progress import HEARTBEAT_MS
from streaming.relation import query
from streaming.sessions import EPHEMERAL_KINDS
from streaming.steps.registry import STEPS
from zklake.events.envelope import Event, decode
from zklake.events.samples import SAMPLE_OPS

_FOLLOWED_OPS = (
    *("gap", "frame_begin", "in_sync", "heartbeat", "seq_hole", "seq_repeat"),
    *SAMPLE_OPS,
)
# What the machines follow.
_MACHINE_KINDS = ("consumer", "owner", "topic", "offset")
_FOLLOWED_KINDS = tuple(
    {
        **EPHEMERAL_KINDS,
        **{kind: None for s in STEPS for kind in s.kinds},
        **dict.fromkeys(_MACHINE_KINDS),
    }
)
# SQL: an event that the driver itself must follow.
IS_FOLLOWED = f"op IN {_FOLLOWED_OPS} OR coalesce(kind IN {_FOLLOWED_KINDS}, false)"
# What a record weighs, at most, as one.
_RECORD_BYTES = 400
DATA_FIELDS = ("data", "data_b64", "data_zlib_b64")
_FOLLOWED_FIELDS = (
    "cluster, log_id, seq, op, observed_at_ms, path, kind, zxid, data_hash, fidelity, stat, "
    f"origin, missed, gap, frame, {', '.join((*DATA_FIELDS, *SAMPLE_OPS))}"
)


@dataclass(frozen=True)
class Summary:
    """Plain numbers about one batch of parsed records, and the events to follow, by seq."""

    bad: int
    good: int
    # Of the good ones, those that were read from Kafka just now: the others had to wait for them.
    news: int
    # Good records beyond the watermark, heartbeats left out.
    fresh: int
    # Of all znodes' values together.
    data_bytes: int
    # By cluster; in a stream there is only one.
    last_seqs: dict[str, int]
    # The logs that the records beyond the watermark belong to.
    log_ids: tuple[str, ...]
    # The last seq that concerns each SQL-folded table.
    touched: dict[str, int | None]
    # How many values SQL does not read itself, by table.
    odd: dict[str, int]
    observed_at_ms: int | None
    last_bad_offset: int | None
    # How far the log was read, good or bad, and how often its seq was broken.
    read_seq: int | None
    read_offset: int | None
    breaks: int
    followed: tuple[Event, ...]

    @cached_property
    def rows(self) -> int:
        """How many rows it may begin: one record of samples tells thousands."""
        return self.good + sum(map(_count_told, self.followed))

    @property
    def weight(self) -> int:
        """How much it is to hold at once."""
        return weigh(self.rows, self.data_bytes)

    @property
    def last_seq(self) -> int | None:
        """The largest seq of all."""
        return max(self.last_seqs.values(), default=None)

    def find_last_event(self, last_seq: int) -> int:
        """The last seq up to some seq that is no heartbeat's."""
        beats = {e.seq for e in self.followed if e.op == "heartbeat"}
        while last_seq in beats:
            last_seq -= 1
        return last_seq

    def find_heartbeat_minute(self, last_seq: int) -> int:
        """The last minute with a heartbeat, up to some seq; -1: none."""
        beats = (
            e.observed_at_ms for e in self.followed if e.op == "heartbeat" and e.seq <= last_seq
        )
        return max(beats, default=-1) // HEARTBEAT_MS


def weigh(records: int, data_bytes: int) -> int:
    """The number of records, or more where they are large: the driver holds only light batches."""
    return max(records, data_bytes // _RECORD_BYTES)


def summarise(
    events: DataFrame,
    tables: Sequence[Table],
    seq: int = -1,
    followed_seq: int | None = None,
    read_offset: int = -1,
    *,
    read_seq: int | None = None,
) -> Summary:
    """Look once at a batch of parsed records (held in memory); `seq` is the watermark.

    `followed_seq`: up to where the driver has followed the log, if not up to the watermark;
    `read_offset`, `read_seq`: up to where the log had been read before; without a seq it is
    taken as unbroken.
    """
    followed_seq = seq if followed_seq is None else followed_seq
    broken = "0" if read_seq is None else count_breaks_sql("judged", read_seq, read_offset)
    columns = {
        **_sum_batch(seq, followed_seq, read_offset),
        "new_breaks": f"({broken})",
        **{f"last_{t.name}": f"max(IF(_good AND {concerns(t)}, seq, NULL))" for t in tables},
        **{f"odd_{t.name}": f"count_if(_good AND {is_odd(t)})" for t in tables},
    }
    sums = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    rows = query(
        f"""SELECT IF(_good, cluster, NULL) AS _cluster, {sums}
        FROM (SELECT *, reason IS NULL AS _good FROM judged) GROUP BY 1""",
        judged=events,
    ).collect()
    return _add_up(rows, tables)


def _sum_batch(seq: int, followed_seq: int, read_offset: int) -> dict[str, str]:
    """SQL of what is counted of all tables together, by name."""
    fresh = f"_good AND seq > {seq}"
    is_followed = f"_good AND seq > {followed_seq} AND ({IS_FOLLOWED})"
    return {
        "bad": "count_if(NOT _good)",
        "good": "count_if(_good)",
        "news": f"count_if(_good AND kafka_offset > {read_offset})",
        "fresh": f"count_if({fresh} AND op <> 'heartbeat')",
        "data_bytes": " + ".join(f"coalesce(sum(length({name})), 0)" for name in DATA_FIELDS),
        "last_seq": "max(IF(_good, seq, NULL))",
        "log_ids": f"collect_set(IF({fresh}, log_id, NULL))",
        "observed_at_ms": "max(IF(_good, observed_at_ms, NULL))",
        "last_bad_offset": "max(IF(_good, NULL, kafka_offset))",
        "read_seq": "max(IF(_good OR is_newer, seq, NULL))",
        "read_offset": "max(kafka_offset)",
        "breaks": "count_if(is_hole OR is_repeat)",
        "followed": f"collect_list(IF({is_followed}, to_json(struct({_FOLLOWED_FIELDS})), NULL))",
    }


def _add_up(rows: Sequence[Row], tables: Sequence[Table]) -> Summary:
    """Those of all clusters, and of the bad records, together."""

    def most(name: str) -> int | None:
        return max((row[name] for row in rows if row[name] is not None), default=None)

    def total(name: str) -> int:
        return sum(row[name] for row in rows)

    followed = [decode(text.encode()) for row in rows for text in row["followed"]]
    return Summary(
        bad=total("bad"),
        good=total("good"),
        news=total("news"),
        fresh=total("fresh"),
        data_bytes=total("data_bytes"),
        last_seqs={row["_cluster"]: row["last_seq"] for row in rows if row["good"]},
        log_ids=tuple(sorted({log_id for row in rows for log_id in row["log_ids"]})),
        touched={table.name: most(f"last_{table.name}") for table in tables},
        odd={table.name: total(f"odd_{table.name}") for table in tables},
        observed_at_ms=most("observed_at_ms"),
        last_bad_offset=most("last_bad_offset"),
        read_seq=most("read_seq"),
        read_offset=most("read_offset"),
        breaks=total("breaks") + (most("new_breaks") or 0),
        followed=_in_order(followed),
    )


def is_odd(table: Table) -> str:
    """SQL: the event's data is of a form that the table's SQL does not read."""
    assert table.payload is not None
    return f"({touches(table)} AND NOT {table.payload.is_plain_sql})"


def _count_told(event: Event) -> int:
    """How many rows one sample may begin."""
    commits = event.group_commit.commits if event.group_commit else ()
    members = (event.group_state.members or ()) if event.group_state else ()
    assigned = (topic.partitions for each in members for topic in each.assignment or ())
    return len(commits) + len(members) + sum(map(len, assigned))


def _in_order(events: list[Event]) -> tuple[Event, ...]:
    """By cluster and seq; of the same seq twice the first one read counts."""
    first: dict[tuple[str, int, bool], Event] = {}
    for event in events:
        first.setdefault((event.cluster, event.seq, event.op != REPEATED), event)
    return tuple(first[place] for place in sorted(first))
