"""The first chapter of a run: a broker dies and comes back, and the lake shows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from zklake.errors import LabError, QueryError
from zklake.supervision.part import Site

_POLL_S = 0.5

Rows = list[dict[str, Any]]

LIVES = (
    "SELECT broker_id, broker_epoch, valid_from_at, valid_to_at, is_open, ended_by "
    "FROM broker_membership ORDER BY broker_id, valid_from_seq"
)


def run_first_light(
    cluster: Cluster,
    site: Site,
    since: datetime,
    say: Callable[[str], None],
    show: Callable[[Rows], None],
) -> Rows:
    """Kill -9 a broker, start it again; returns the lives of brokers that began `since` then.

    The lake may hold those of earlier runs, and not know yet that they are over.
    """

    def wait_for(what: str, wanted: set[int]) -> Rows:
        rows = wait_for_rows(
            site, what, LIVES, lambda rows: _find_living(_select(rows, since)) == wanted
        )
        show(_select(rows, since))
        return _select(rows, since)

    ids = {broker.broker_id for broker in cluster.brokers}
    victim = cluster.brokers[-1]
    wait_for("every broker", ids)
    say(f"story: kill -9 of broker {victim.broker_id}: its session ends some seconds later")
    victim.kill()
    wait_for("the end of its life", ids - {victim.broker_id})
    say(f"story: starting broker {victim.broker_id} again")
    victim.start()
    return wait_for("its new life", ids)


def wait_for_rows(
    site: Site, what: str, sql: str, is_enough: Callable[[Rows], bool], timeout_s: float = 300.0
) -> Rows:
    """Ask the lake again and again until the rows are there."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        rows = _read(site, sql)
        if is_enough(rows):
            return rows
        time.sleep(_POLL_S)
    raise LabError(f"{what}: not seen in the lake {site.lake} within {timeout_s:.0f} s")


def _read(site: Site, sql: str) -> Rows:
    """No rows while a table is still missing."""
    try:
        return read_rows(site.lake, site.cluster, sql)
    except QueryError:
        return []


def _select(rows: Rows, since: datetime) -> Rows:
    return [row for row in rows if row["valid_from_at"] >= since]


def _find_living(rows: Rows) -> set[int]:
    return {row["broker_id"] for row in rows if row["is_open"]}
