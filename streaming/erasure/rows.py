"""Rows that hold a value to erase, found by Arrow column by column, and masked one by one. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.erasure.secret_values import SecretValues
from streaming.lake.rewriting import put_rows

# Of znode_events: data that may be packed, or JSON that spells its letters otherwise.
_PACKED = ("data_b64", "data_zlib_b64")
_ESCAPES = r"\\u|\\/"


def find_rows(rows: pa.Table, secrets: SecretValues) -> list[int]:
    """The places of the rows that hold one of the values."""
    found = set[int]()
    for name in rows.schema.names:
        column = rows[name]
        if _is_text(column.type):
            found |= _find_texts(column, secrets, name)
        elif any(_holds(leaf, secrets) for chunk in column.chunks for leaf in _flatten(chunk)):
            values = enumerate(column.to_pylist())
            found.update(place for place, one in values if secrets.mask_names(one) != one)
    return sorted(found)


def mask_rows(rows: pa.Table, table: str, secrets: SecretValues) -> tuple[pa.Table, int]:
    """The rows without the values, in their order; and how many held one."""
    places = find_rows(rows, secrets)
    if not places:
        return rows, 0
    mask = secrets.mask_event if table == ZNODE_EVENTS.name else secrets.mask_names
    held = [mask(row) for row in rows.take(pa.array(places, pa.int64())).to_pylist()]
    masked = pa.Table.from_pylist(held, schema=rows.schema)
    return put_rows(rows, places, masked), len(places)


def _find_texts(column: pa.ChunkedArray, secrets: SecretValues, name: str) -> set[int]:
    found = set[int]()
    for spelling in secrets.spellings:
        found |= _list_places(pc.match_substring(column, spelling))
    # What a plain search cannot see: some rows of a few files.
    veiled = set[int]()
    if name in _PACKED:
        veiled = _list_places(pc.is_valid(column))
    elif name == "data":
        veiled = _list_places(pc.match_substring_regex(column, _ESCAPES))
    for place in veiled - found:
        event = {name: column[place].as_py()}
        if secrets.mask_event(event) != event:
            found.add(place)
    return found


def _list_places(flags: pa.ChunkedArray) -> set[int]:
    return set(pc.indices_nonzero(pc.fill_null(flags, False)).to_pylist())


def _holds(leaf: pa.Array, secrets: SecretValues) -> bool:
    if pa.types.is_binary(leaf.type) or pa.types.is_large_binary(leaf.type):
        return any(secrets.occur_in_record(one.as_py()) for one in leaf)
    return any(pc.any(pc.match_substring(leaf, spelling)).as_py() for spelling in secrets.spellings)


def _flatten(array: pa.Array) -> Iterator[pa.Array]:
    """The texts and bytes inside a column of any type."""
    kind = array.type
    if _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        yield array
    elif pa.types.is_struct(kind):
        for child in array.flatten():
            yield from _flatten(child)
    elif pa.types.is_map(kind):
        yield from _flatten(array.keys)
        yield from _flatten(array.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _flatten(array.flatten())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
