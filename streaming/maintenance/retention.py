"""Which rows of a table may go, and after how many days. Pure: no clock, no I/O.

What a rebuild needs never goes: neither what follows the newest complete frame, nor the events that
step tables are folded from. A rule of znode_events leaves a mark in the table: up to which seq its
records may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from delta_tables.catalog import STEP_TABLES, TABLE_BY_NAME
from delta_tables.table import Table
from delta_tables.tables.znode_events import ZNODE_EVENTS
from zklake.errors import SettingsError
from zklake.events.samples import SAMPLE_OPS
from zklake.settings.maintenance import MaintenanceSettings

# SQL over an event: the many that matter for days only.
SAMPLE_KINDS = ("offset",)
SAMPLES = f"(op IN {SAMPLE_OPS} OR coalesce(kind = 'offset', false))"
SAMPLES_MARK = "zklake.trimmed.samples"
EVENTS_MARK = "zklake.trimmed.events"
_STEP_OPS = ("gap", "frame_begin", "in_sync", "seq_hole", "seq_repeat")


@dataclass(frozen=True)
class Policy:
    """How long things are kept, and how often somebody looks; see zklake.settings.maintenance."""

    interval_s: int = 3600
    keep_hours: int = 2
    sample_days: int = 7
    # By table; 0 days: for ever.
    retention_days: Mapping[str, int] = field(default_factory=dict)
    # Beyond so many hours, lag and log ends have one row a minute.
    full_hours: int = 6


@dataclass(frozen=True)
class RetentionRule:
    """Rows that go when their date is more than so many days old."""

    name: str
    days: int
    # SQL over a row; None: every row of the date.
    where: str | None = None
    # Under which Delta transaction id the last seq that may be missing stands.
    mark: str | None = None


def read_policy(settings: MaintenanceSettings, full_hours: int = Policy.full_hours) -> Policy:
    """What the settings say; SettingsError where a table cannot be trimmed."""
    days = {}
    for text in settings.retention:
        name, _, number = text.partition("=")
        table = TABLE_BY_NAME.get(name)
        if table is None or find_date_column(table) is None:
            possible = [t.name for t in TABLE_BY_NAME.values() if find_date_column(t)]
            raise SettingsError(
                f"maintenance.retention: {name!r} is no table with a date; these can be trimmed: "
                f"{', '.join(possible)}"
            )
        days[name] = int(number)
    return Policy(settings.interval_s, settings.keep_hours, settings.sample_days, days, full_hours)


def find_date_column(table: Table) -> str | None:
    """The column of dates that the table is partitioned by."""
    types = {column.name: column.type for column in table.columns}
    return next((name for name in table.partition_by if types[name] == "DATE"), None)


def find_rules(table: Table, policy: Policy) -> tuple[RetentionRule, ...]:
    """What may go from this table."""
    days = policy.retention_days.get(table.name, table.retention_days or 0)
    if table.name != ZNODE_EVENTS.name:
        return (RetentionRule("rows", days),) if days else ()
    rules = (
        RetentionRule("samples", policy.sample_days, SAMPLES, SAMPLES_MARK),
        RetentionRule("events", days, f"NOT {_step_events()}", EVENTS_MARK),
    )
    return tuple(rule for rule in rules if rule.days)


def _step_events() -> str:
    """SQL: events of the tables that plain Python folds; few, and rewound by nothing."""
    kinds = tuple(kind for table in STEP_TABLES for kind in table.kinds)
    ops = ", ".join(f"'{op}'" for op in _STEP_OPS)
    names = ", ".join(f"'{kind}'" for kind in kinds)
    return f"(op IN ({ops}) OR coalesce(kind IN ({names}), false))"
