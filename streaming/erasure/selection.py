"""Values that are named by where they stand, for one who does not have them at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from delta_tables import reading
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.erasure.secret_values import SHORTEST
from zklake.errors import LakeError
from zklake.events.credentials import MASK


def find_values(lake: str, cluster: str, path: str | None, key: str | None) -> set[str]:
    """Every value that the lake has of a znode's data, or of a key in it."""
    delta = reading.open_table(lake, cluster, ZNODE_EVENTS.name)
    if delta is None:
        raise LakeError(f"{lake}/{cluster} holds no tables: check --lake and --cluster")
    where = "true" if path is None else f"path = {_quote(path)}"
    sql = f"SELECT DISTINCT path, data FROM znode_events WHERE data IS NOT NULL AND {where}"
    rows = reading.query_rows({ZNODE_EVENTS.name: delta}, sql)
    found = {value for row in rows for value in _read(row["path"], row["data"], key)} - {MASK, ""}
    named = " of ".join(filter(None, (key and f"key {key}", path)))
    if not found:
        raise LakeError(
            f"{named}: {lake}/{cluster} holds no value of it; what only the log or old files hold "
            "must be given as the value itself"
        )
    if short := [value for value in found if len(value) < SHORTEST]:
        raise LakeError(
            f"{named}: of {len(found)} values {len(short)} have fewer than {SHORTEST} characters; "
            "give the value itself instead"
        )
    return found


def _read(path: str, data: str, key: str | None) -> Iterator[str]:
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        tree = None
    if key is not None:
        yield from _find(tree, key)
    elif isinstance(tree, dict | list):
        raise LakeError(f"the data of {path} is JSON: name the key with --key")
    else:
        yield data


def _find(tree: Any, key: str) -> Iterator[str]:
    """The texts under a key, at any depth."""
    if isinstance(tree, dict):
        if isinstance(tree.get(key), str):
            yield tree[key]
        tree = [*tree.values()]
    for one in tree if isinstance(tree, list) else ():
        yield from _find(one, key)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
