"""What should be done to a table, as steps that each fit between two batches. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, Literal

from delta_tables.table import Table
from streaming.maintenance.gathering import STEP_BYTES, STEP_FILES
from streaming.maintenance.retention import Policy, RetentionRule, find_date_column, find_rules
from streaming.maintenance.survey import TablePartition, TableSurvey

Action = Literal[
    "thin",  # an hour of lag or log ends becomes one row a minute
    "roll_up",  # a day of lag that is over becomes buckets
    "settle",  # table properties that go with the settings
    "trim",  # rows that are too old are deleted
    "gather",  # some files of a large date become one, sorted by key
    "sort",  # a date that is over is rewritten, sorted by key
    "merge",  # small files of a date that still grows become one
    "vacuum",  # files that no reader can hold any more are removed
    "clean",  # so are files of the table's log
]

# Beyond so many files, a partition that still grows is merged.
MOST_FILES = 32


@dataclass(frozen=True)
class MaintenanceStep:
    """One thing to do to one table."""

    table: str
    action: Action
    says: str
    # Values of the partition's columns.
    partition: tuple[tuple[str, Any], ...] = ()
    # SQL: the rows to delete, and up to which seq they may then be missing, under which id.
    where: str = ""
    mark: tuple[str, int] | None = None
    properties: tuple[tuple[str, str], ...] = ()


def plan(
    table: Table,
    look: TableSurvey,
    policy: Policy,
    today: date,
    newest_frame: int | None,
    *,
    growing: date | None = None,
) -> list[MaintenanceStep]:
    """Everything there is to do now, in order; `growing`: the first date that is not whole yet."""
    steps = [
        *_settle(table, look, policy),
        *_trim(table, look, policy, today, newest_frame),
        *_rewrite(table, look, growing or today),
    ]
    if look.dead_files:
        steps.append(MaintenanceStep(table.name, "vacuum", f"{look.dead_files} files"))
    if look.dead_log_files:
        steps.append(
            MaintenanceStep(table.name, "clean", f"{look.dead_log_files} files of the log")
        )
    return steps


def _settle(table: Table, look: TableSurvey, policy: Policy) -> Iterator[MaintenanceStep]:
    hours = f"interval {policy.keep_hours} hours"
    # Together: Delta refuses a log that is kept shorter than the files it names.
    wanted = {"delta.logRetentionDuration": hours, "delta.deletedFileRetentionDuration": hours}
    if look.properties.get("delta.appendOnly") == "true" and find_rules(table, policy):
        wanted["delta.appendOnly"] = "false"  # nothing could ever be trimmed
    news = {name: value for name, value in wanted.items() if look.properties.get(name) != value}
    if news:
        says = ", ".join(f"{name} = {value}" for name, value in news.items())
        yield MaintenanceStep(table.name, "settle", says, properties=tuple(news.items()))


def _trim(
    table: Table, look: TableSurvey, policy: Policy, today: date, newest_frame: int | None
) -> Iterator[MaintenanceStep]:
    column = find_date_column(table)
    for rule in find_rules(table, policy):
        cutoff = today - timedelta(days=rule.days)
        old = [p for p in _closed_parts(table, look) if _date_of(table, p) < cutoff]
        old.sort(key=lambda part: _date_of(table, part))
        if rule.mark is None and old:
            where = f"{column} < DATE '{cutoff}'" + (
                " AND NOT is_open" if table.is_interval else ""
            )
            dates = f"{rule.name} of {len(old)} dates up to {_date_of(table, old[-1])}"
            yield MaintenanceStep(table.name, "trim", dates, where=where)
        elif newest_frame is not None:
            yield from _trim_events(table, rule, old, look, newest_frame)


def _trim_events(
    table: Table,
    rule: RetentionRule,
    old: list[TablePartition],
    look: TableSurvey,
    newest_frame: int,
) -> Iterator[MaintenanceStep]:
    assert rule.mark is not None
    done = look.marks.get(rule.mark, -1)
    for part in old:
        last = min(part.last_seq if part.last_seq is not None else -1, newest_frame - 1)
        if last <= done:
            continue
        ((column, value),) = part.values.items()
        for first, end in _cut(part, last):
            where = (
                f"{column} = DATE '{value}' AND seq >= {first} AND seq <= {end} AND {rule.where}"
            )
            says = f"{rule.name} of {value}" + (f" up to seq {end}" if end < last else "")
            yield MaintenanceStep(
                table.name, "trim", says, tuple(part.values.items()), where, (rule.mark, end)
            )


def _cut(part: TablePartition, last: int) -> Iterator[tuple[int, int]]:
    """Seqs up to the last in pieces that each fit into a step: files hold seqs that are near."""
    first = 0 if part.first_seq is None else min(part.first_seq, last)
    pieces = -(-part.bytes // STEP_BYTES)
    ends = [first - 1 + (last - first + 1) * number // pieces for number in range(pieces + 1)]
    for before, end in pairwise(ends):
        if end > before:
            yield before + 1, end


def _rewrite(table: Table, look: TableSurvey, today: date) -> Iterator[MaintenanceStep]:
    for part in _closed_parts(table, look):
        if _is_compact(part) or None in part.values.values():
            continue  # no date: times that are none (hostile ones) make few rows
        on = _date_of(table, part)
        name = "all rows" if on == date.max else str(on)
        says = f"{name}: {part.files} files, {part.bytes:,} bytes"
        values = tuple(part.values.items())
        if on >= today and part.files <= MOST_FILES:
            continue
        rounds = _count_rounds(part)
        if rounds > 1:
            for number in range(rounds):
                yield MaintenanceStep(
                    table.name, "gather", f"{says}; {number + 1} of {rounds}", values
                )
        if part.bytes <= STEP_BYTES and (on < today or rounds == 1):
            yield MaintenanceStep(table.name, "sort" if on < today else "merge", says, values)


def _count_rounds(part: TablePartition) -> int:
    """In how many steps it is done; each takes some seconds at most."""
    return max(-(-part.files // STEP_FILES), -(-part.bytes // STEP_BYTES))


def _is_compact(part: TablePartition) -> bool:
    """Rewriting it again would make no fewer files, or hardly."""
    # Of a large one, all files but one are larger than half a step.
    return part.files <= (1 if part.bytes <= STEP_BYTES else 1 + 2 * part.bytes / STEP_BYTES)


def _closed_parts(table: Table, look: TableSurvey) -> list[TablePartition]:
    """Open rows are one file, replaced by every commit: there is nothing to do for them."""
    parts = [part for part in look.parts if not part.values.get("is_open")]
    return sorted(parts, key=lambda part: _date_of(table, part))


def _date_of(table: Table, part: TablePartition) -> date:
    """The date of a partition; what has none never gets old."""
    column = find_date_column(table)
    value = part.values[column] if column else None
    return value if isinstance(value, date) else date.max
