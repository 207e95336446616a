"""Events as rows of znode_events, and back: for a rebuild, and for what is folded again at a start.

The columns bear the names of the wire. What is nested (samples, gaps, frames) is made by Arrow's
own JSON reader from the events as they travel: a round of 100,000 commits takes a tenth of a
second instead of one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.json as pj
import pyarrow.parquet as pq
from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.creation import make_schema
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import EVENT_COLUMNS, ZNODE_EVENTS
from streaming.fold.failure import Unfoldable
from streaming.lake.arrow_rows import MISFITS, find_schema
from streaming.lake.new_files import NewFile
from streaming.log.continuity import Entry
from streaming.log.records import judge_record
from zklake.events.envelope import Event, Frame, Gap, Stat, encode
from zklake.events.samples import SAMPLE_OPS, GroupCommits, GroupState, LogEnds

_SCHEMA = pa.schema(
    [field.with_nullable(True) for field in pa.schema(make_schema(EVENT_COLUMNS).to_arrow())]
)
_NAMES = _SCHEMA.names
_STORED = [*_NAMES, "kafka_offset"]
# Lakes of an older zklake may lack it; no fold asks for it.
_LATER = ("session",)
# What a fold asks of znodes, gaps and frames.
TREE_COLUMNS = tuple(name for name in _NAMES if name not in (*SAMPLE_OPS, *_LATER))
# So many bytes of JSON are read at once.
_CHUNK_BYTES = 32 << 20
_NESTED: dict[str, type[msgspec.Struct]] = {
    "gap": Gap,
    "frame": Frame,
    "log_ends": LogEnds,
    "group_commit": GroupCommits,
    "group_state": GroupState,
}
_NESTED_SCHEMA = pa.schema([field for field in _SCHEMA if field.name in _NESTED])
_NO_STAT = Stat()
S = TypeVar("S", bound=msgspec.Struct)


class Stretch(NamedTuple):
    """A piece of the log: behind which seq it begins, which is its last, and how many rows."""

    after_seq: int
    last_seq: int
    rows: int


def make_event_rows(entries: Sequence[Entry], topic: str, now: datetime) -> pa.Table:
    """Rows of znode_events."""
    try:
        rows = make_event_columns([entry.event for entry in entries])
    except MISFITS:
        _blame(entries)
        raise
    at = rows["observed_at_ms"].cast(pa.timestamp("ms", "UTC"))
    schema, size = find_schema(ZNODE_EVENTS.name), len(entries)
    beside = {
        "observed_at": at.cast(schema.field("observed_at").type),
        "kafka_topic": pa.repeat(topic, size),
        "kafka_partition": pa.repeat(pa.scalar(0, pa.int32()), size),
        "kafka_offset": pa.array([entry.offset for entry in entries], pa.int64()),
        "ingested_at": pa.repeat(pa.scalar(now, schema.field("ingested_at").type), size),
        "observed_on": at.cast(pa.date32()),
    }
    return pa.table({**rows, **beside}, schema=schema)


def make_event_columns(events: Sequence[Event]) -> dict[str, pa.Array]:
    """The events' own fields, under their names, as Arrow has them."""
    values = [*zip(*map(msgspec.structs.astuple, events), strict=True)] or [()] * len(_NAMES)
    fields = dict(zip(Event.__struct_fields__, values, strict=True))
    nested = _read_nested(events, fields)
    columns = {}
    for field in _SCHEMA:
        if field.name == "stat":
            columns[field.name] = _make_stats(fields[field.name], field.type)
        elif field.name in _NESTED:
            columns[field.name] = nested[field.name]
        else:
            columns[field.name] = pa.array(fields[field.name], field.type)
    return columns


def _make_stats(stats: Sequence[Stat | None], type_: pa.StructType) -> pa.Array:
    known = [msgspec.structs.astuple(stat or _NO_STAT) for stat in stats]
    values = [*zip(*known, strict=True)] or [()] * type_.num_fields
    fields = [pa.array(one, type_.field(place).type) for place, one in enumerate(values)]
    is_null = pa.array([stat is None for stat in stats], pa.bool_())
    return pa.StructArray.from_arrays(fields, fields=[*type_], mask=is_null)


def _read_nested(
    events: Sequence[Event], fields: Mapping[str, Sequence[Any]]
) -> dict[str, pa.Array]:
    """The columns of what is nested: few events have any of it."""
    used = [
        place
        for place, each in enumerate(zip(*(fields[n] for n in _NESTED), strict=True))
        if any(each)
    ]
    if not used:
        return {name: pa.nulls(len(events), _NESTED_SCHEMA.field(name).type) for name in _NESTED}
    rows = _read_json([encode(events[place]) for place in used])
    places = dict(zip(used, range(len(used)), strict=True))
    indices = pa.array([places.get(place) for place in range(len(events))], pa.int64())
    return {name: rows[name].combine_chunks().take(indices) for name in _NESTED}


def _read_json(records: Sequence[bytes]) -> pa.Table:
    parts, chunk, size = list[pa.Table](), list[bytes](), 0
    for record in records:
        if chunk and size + len(record) > _CHUNK_BYTES:
            parts.append(_parse(chunk))
            chunk, size = [], 0
        chunk.append(record)
        size += len(record) + 1
    parts.append(_parse(chunk))
    return pa.concat_tables(parts)


def _parse(records: Sequence[bytes]) -> pa.Table:
    data = b"\n".join(records)
    return pj.read_json(
        pa.BufferReader(data),
        pj.ReadOptions(use_threads=False, block_size=len(data) + 1),
        pj.ParseOptions(explicit_schema=_NESTED_SCHEMA, unexpected_field_behavior="ignore"),
    ).select(_NESTED_SCHEMA.names)


def _blame(entries: Sequence[Entry]) -> None:
    """Find the event that cannot be a row."""
    for entry in entries:
        try:
            make_event_columns([entry.event])
        except MISFITS as error:
            raise Unfoldable(entry.event.seq, f"znode_events: {error}") from error


def read_entries(lake: str, cluster: str, after_seq: int, last_seq: int) -> Iterator[Entry]:
    """What znode_events keeps of a stretch of the log, in order."""
    for rows in read_rows(lake, cluster, after_seq, last_seq):
        yield from make_entries(rows)


def read_rows(lake: str, cluster: str, after_seq: int, last_seq: int) -> Iterator[pa.Table]:
    """The rows of a stretch of the log, in order."""
    delta = reading.open_table(lake, cluster, ZNODE_EVENTS.name)
    if delta is None or after_seq >= last_seq:
        return
    files, root = pyarrow.fs.FileSystem.from_uri(delta.table_uri)
    schema = pa.schema([f for f in pa.schema(delta.schema().to_arrow()) if f.name in _STORED])
    bounds = (pc.field("seq") > after_seq) & (pc.field("seq") <= last_seq)
    for paths in _group_files(delta, after_seq, last_seq):
        stored = ds.dataset(
            [f"{root}/{path}" for path in paths], schema=schema, format="parquet", filesystem=files
        )
        rows = stored.to_table(filter=bounds)
        for name in _LATER:
            if name not in schema.names:
                rows = rows.append_column(name, pa.nulls(rows.num_rows, pa.int64()))
        yield sort_rows(rows)


def sort_rows(rows: pa.Table) -> pa.Table:
    """In the order of the log: what the stream itself says of a record comes before it."""
    return rows.sort_by([("seq", "ascending"), ("kafka_offset", "ascending")])


def read_files(files: Iterable[NewFile], kinds: Sequence[str]) -> Iterator[Entry]:
    """The events of these kinds in files of the table that are not stored yet, in order."""
    chosen = pc.field("kind").isin(kinds)
    rows = [
        pq.read_table(pa.BufferReader(file.data), columns=_STORED, filters=chosen) for file in files
    ]
    if rows:
        yield from make_entries(sort_rows(pa.concat_tables(rows)))


def list_stretches(lake: str, cluster: str, last_seq: int, size: int) -> list[Stretch]:
    """The log up to that seq, cut into pieces of so many rows."""
    delta = reading.open_table(lake, cluster, ZNODE_EVENTS.name)
    if delta is None:
        return []
    sql = (
        "SELECT max(seq) AS seq, count(*) AS n FROM ("
        f"SELECT seq, floor((row_number() OVER (ORDER BY seq) - 1) / {size}) AS piece "
        f"FROM znode_events WHERE seq <= {last_seq}) GROUP BY piece ORDER BY seq"
    )
    rows = reading.query_rows({ZNODE_EVENTS.name: delta}, sql)
    ends = [-1, *(row["seq"] for row in rows)]
    return [Stretch(ends[n], row["seq"], row["n"]) for n, row in enumerate(rows)]


def read_healed(lake: str, cluster: str) -> list[Entry]:
    """Records in quarantine that only their version kept out, and no longer does."""
    delta = reading.open_table(lake, cluster, QUARANTINE.name)
    if delta is None:
        return []
    sql = (
        "SELECT DISTINCT kafka_offset, record FROM quarantine "
        "WHERE reason LIKE 'event version %' ORDER BY kafka_offset"
    )
    rows = reading.query_rows({QUARANTINE.name: delta}, sql)
    judged = [(judge_record(row["record"], cluster, None), row["kafka_offset"]) for row in rows]
    return [Entry(event, offset) for event, offset in judged if isinstance(event, Event)]


def read_all(lake: str, cluster: str, last_seq: int) -> Iterator[Entry]:
    """All events, in order; records that only their version kept out take their place again."""
    healed = sorted(read_healed(lake, cluster), key=_order)
    yield from heapq.merge(read_entries(lake, cluster, -1, last_seq), healed, key=_order)


def _order(entry: Entry) -> tuple[int, int]:
    return entry.event.seq, entry.offset


def _group_files(delta: DeltaTable, after_seq: int, last_seq: int) -> Iterator[list[str]]:
    """Files whose events come one after the other; those that lie across each other together."""
    actions = pa.table(delta.get_add_actions(flatten=True))
    found = {"min.seq", "max.seq"} <= set(actions.schema.names)
    bounds = actions.select(["path", "min.seq", "max.seq"]).to_pylist() if found else []
    if len(bounds) != actions.num_rows or any(None in row.values() for row in bounds):
        yield actions["path"].to_pylist()
        return
    group, end = list[str](), -1
    for row in sorted(bounds, key=lambda row: int(row["min.seq"])):
        if row["max.seq"] <= after_seq or row["min.seq"] > last_seq:
            continue
        if group and row["min.seq"] > end:
            yield group
            group = []
        group.append(row["path"])
        end = max(end, row["max.seq"])
    if group:
        yield group


def make_entries(rows: pa.Table) -> Iterator[Entry]:
    """The events of rows."""
    rows = rows.combine_chunks()
    columns = [_read_column(rows[name], name) for name in _NAMES]
    for offset, values in zip(
        rows["kafka_offset"].to_pylist(), zip(*columns, strict=True), strict=True
    ):
        yield Entry(Event(*values), offset)


def _read_column(column: pa.ChunkedArray, name: str) -> list[Any]:
    if name == "stat":
        return _read_stats(column)
    values: list[Any] = column.to_pylist()
    if name in _NESTED:
        return [None if one is None else _read_struct(one, _NESTED[name]) for one in values]
    return values


def _read_stats(column: pa.ChunkedArray) -> list[Stat | None]:
    if not column.num_chunks:
        return []
    stats = column.combine_chunks()
    fields = [stats.field(name).to_pylist() for name in Stat.__struct_fields__]
    known = stats.is_valid().to_pylist()
    return [
        Stat(*values) if is_known else None
        for is_known, values in zip(known, zip(*fields, strict=True), strict=True)
    ]


def _read_struct(value: Any, struct: type[S]) -> S:
    return msgspec.convert(_drop_nulls(value), struct, strict=False)


def _drop_nulls(value: Any) -> Any:
    """Without the fields that were at their default."""
    if isinstance(value, dict):
        return {name: _drop_nulls(one) for name, one in value.items() if one is not None}
    return [_drop_nulls(one) for one in value] if isinstance(value, list) else value
