"""What `zklake audit --follow` found in its last round, as its metrics say. Knows no page."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from dashboard.openapi.shapes import Instant

_TIMEOUT_S = 1.0
# Two lines a table: far more than it ever says.
_LONGEST_ANSWER = 1 << 20


class AuditedTable(msgspec.Struct, frozen=True):
    """What contradicts one table: 0 and 0 are the promise."""

    table: str
    unexplained: int
    phantom: int


class Audited(msgspec.Struct, frozen=True):
    """The last round that came to its end, as far as one did and somebody answers."""

    address: str
    is_up: bool
    round_at: Instant | None = None
    znodes: int | None = None
    records: int | None = None
    undecided: int | None = None
    failures: int | None = None
    tables: tuple[AuditedTable, ...] = ()


def ask_auditor(address: str, cluster: str) -> Audited:
    """Look at its metrics."""
    try:
        return _read(address, cluster, _get(address))
    except (OSError, ValueError, http.client.HTTPException):
        return Audited(address, is_up=False)


def _get(address: str) -> str:
    connection = http.client.HTTPConnection(address, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read(_LONGEST_ANSWER).decode()
    finally:
        connection.close()


def _read(address: str, cluster: str, text: str) -> Audited:
    found = {(name, table): value for name, table, value in _list_samples(cluster, text)}

    def find(name: str) -> int | None:
        value = found.get((f"zklake_audit_{name}", ""))
        return None if value is None else round(value)

    ended = find("last_round_timestamp_seconds")
    return Audited(
        address,
        is_up=True,
        round_at=None if ended is None else datetime.fromtimestamp(ended, UTC),
        znodes=find("znodes"),
        records=find("records"),
        undecided=find("undecided"),
        failures=find("failures_total"),
        tables=tuple(_list_tables(found)),
    )


def _list_samples(cluster: str, text: str) -> Iterator[tuple[str, str, float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.labels.get("cluster") == cluster:
                yield sample.name, sample.labels.get("table", ""), sample.value


def _list_tables(found: Mapping[tuple[str, str], float]) -> Iterator[AuditedTable]:
    """Those with findings first."""
    tables = [
        AuditedTable(table, round(value), round(found.get(("zklake_audit_phantom", table), 0)))
        for (name, table), value in found.items()
        if name == "zklake_audit_unexplained"
    ]
    yield from sorted(tables, key=lambda one: (-one.unexplained - one.phantom, one.table))
