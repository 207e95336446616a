"""A copy of a lake with defects in it: rows that were dropped, invented or not replaced."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from auditor.lake import Lake, Watermark
from auditor.report import AuditFinding
from delta_tables.reading import table_path

Rows = list[dict[str, Any]]


class PlantedLake(Lake):
    """The copy, which does not move; how far the lake is, the living one says."""

    def __init__(self, path: str, live: Lake) -> None:
        super().__init__(path, live.cluster)
        self._live = live
        # Verdict, table, and what it is about.
        self.planted: list[tuple[str, str, str]] = []

    def find_watermark(self) -> Watermark:
        now = self._live.find_watermark()
        return super().find_watermark()._replace(observed_at_ms=now.observed_at_ms)


def plant_defects(live: Lake, place: Path) -> PlantedLake:
    """One of each kind, in tables of their own."""
    for table in (Path(live.path) / live.cluster).iterdir():
        # Delta's log first: what it names is there, whatever is written meanwhile.
        there = place / live.cluster / table.name
        if (table / "_delta_log").is_dir():
            shutil.copytree(table / "_delta_log", there / "_delta_log")
            shutil.copytree(table, there, dirs_exist_ok=True, ignore=_ignore_log)
    lake = PlantedLake(str(place), live)
    _change(lake, "topics", _drop_orders)
    lake.planted.append(("unexplained", "topics", "/brokers/topics/orders"))
    _change(lake, "broker_membership", _invent_broker)
    lake.planted.append(("phantom", "broker_membership", "/brokers/ids/77"))
    _change(lake, "partition_state", _keep_a_former_state)
    path = "/brokers/topics/orders/partitions/1/state"
    lake.planted += [("phantom", "partition_state", path), ("unexplained", "partition_state", path)]
    lost, twice = _change(lake, "znode_events", _lose_one_and_repeat_another)
    lake.planted += [
        ("unexplained", "znode_events", lost),
        ("phantom", "znode_events", twice),
    ]
    return lake


def _ignore_log(directory: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "_delta_log"]


def find_subject(finding: AuditFinding) -> str:
    """What a finding is about: a znode of the tree, or a seq of the log."""
    evidence = finding.evidence
    return str(evidence["seq"] if finding.table == "znode_events" else evidence["path"])


def _change(lake: Lake, table: str, change: Callable[[Rows], Any]) -> Any:
    path = table_path(lake.path, lake.cluster, table)
    old = DeltaTable(path).to_pyarrow_table()
    rows = old.to_pylist()
    told = change(rows)
    write_deltalake(path, pa.Table.from_pylist(rows, schema=old.schema), mode="overwrite")
    return told


def _drop_orders(rows: Rows) -> None:
    rows[:] = [row for row in rows if not (row["topic"] == "orders" and row["is_open"])]


def _invent_broker(rows: Rows) -> None:
    known = next(row for row in rows if row["is_open"])
    rows.append({**known, "broker_id": 77})


def _keep_a_former_state(rows: Rows) -> None:
    """A shard that was not replaced."""
    place = ("orders", 1, True)
    (row,) = [row for row in rows if (row["topic"], row["partition"], row["is_open"]) == place]
    row["czxid"] -= 1


def _lose_one_and_repeat_another(rows: Rows) -> tuple[str, str]:
    told = sorted((row for row in rows if row["kind"] is not None), key=lambda row: row["seq"])
    lost, twice = told[len(told) // 3], told[len(told) // 2]
    rows.remove(lost)
    rows.append(dict(twice))
    return str(lost["seq"]), str(twice["seq"])
