"""One lake looked after: which table is due, and one step at a time. For the thread that writes it.

A step that fails is reported, and tried again at the next look; it never harms a batch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.table import Table
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.maintenance.plan import MaintenanceStep, plan
from streaming.maintenance.requests import RequestInbox
from streaming.maintenance.retention import Policy, find_rules
from streaming.maintenance.rollups import SOURCE, plan_rollups, roll_up
from streaming.maintenance.survey import (
    TableSurvey,
    find_newest_frame,
    find_now,
    find_today,
    look_at,
)
from streaming.maintenance.thinning import THINNED, plan_thinning, thin
from streaming.maintenance.work import do

# After a start the tables are looked at so far apart, then once an interval each.
_APART_S = 20.0


@dataclass(frozen=True)
class Outcome:
    """What a turn came to; `action` look: a table was looked at, and `look` is what was seen."""

    table: str
    action: str
    says: str
    seconds: float
    is_error: bool = False
    look: TableSurvey | None = None


class Upkeep:
    """Call run_step whenever nothing else writes the lake; is_due says whether it is worth it."""

    def __init__(self, lake: str, cluster: str, policy: Policy, *, is_on: bool = True) -> None:
        self._lake, self._cluster, self._policy = lake, cluster, policy
        now = time.monotonic()
        self._due_at = {
            table.name: now + _APART_S * (number + 1) if is_on else float("inf")
            for number, table in enumerate(TABLES)
        }
        self._waiting: deque[str] = deque()
        self._steps: deque[MaintenanceStep] = deque()
        self._inbox = RequestInbox(lake, cluster)

    def is_due(self) -> bool:
        """Whether there is anything to do now."""
        return bool(self._steps or self._waiting or self._find_due() or self._inbox.is_asked())

    def run_step(self) -> Outcome | None:
        """Look at one table, or do one step."""
        if not self._inbox.is_open and (asked := self._inbox.take()) is not None:
            self._waiting.extend(name for name in asked.tables if name in TABLE_BY_NAME)
        outcome = None
        if self._steps:
            outcome = self._do(self._steps.popleft())
        elif name := self._waiting.popleft() if self._waiting else self._find_due():
            outcome = self._look(TABLE_BY_NAME[name])
        if self._inbox.is_open:
            self._inbox.reply(outcome, is_last=not (self._steps or self._waiting))
        return outcome

    def _find_due(self) -> str | None:
        now = time.monotonic()
        return next((name for name, at in self._due_at.items() if at <= now), None)

    def _look(self, table: Table) -> Outcome:
        began = time.monotonic()
        self._due_at[table.name] = max(self._due_at[table.name], began + self._policy.interval_s)
        try:
            steps, look = plan_table(self._lake, self._cluster, table, self._policy)
        except Exception as error:  # deltalake's errors have no root of their own
            return Outcome(table.name, "look", str(error), time.monotonic() - began, is_error=True)
        self._steps.extend(steps)
        says = f"{len(steps)} steps"
        return Outcome(table.name, "look", says, time.monotonic() - began, look=look)

    def _do(self, step: MaintenanceStep) -> Outcome:
        outcome = do_step(self._lake, self._cluster, step, self._policy)
        if outcome.is_error:
            self._steps = deque(other for other in self._steps if other.table != step.table)
        return outcome


def plan_table(
    lake: str, cluster: str, table: Table, policy: Policy
) -> tuple[list[MaintenanceStep], TableSurvey | None]:
    """What there is to do for a table, and what it looks like; None: it is not there yet."""
    names = {table.name, ZNODE_EVENTS.name}
    opened = {name: reading.open_table(lake, cluster, name) for name in names}
    tables = {name: delta for name, delta in opened.items() if delta is not None}
    if len(tables) < len(names):
        return [], None
    rules = find_rules(table, policy)
    marks = tuple(rule.mark for rule in rules if rule.mark is not None)
    look = look_at(table, tables[table.name], policy.keep_hours, marks)
    today = find_today(tables[ZNODE_EVENTS.name])
    newest_frame = find_newest_frame(tables[ZNODE_EVENTS.name], today) if marks else None
    first, growing = [], today
    if table.name in THINNED:
        thinned_up_to = find_now(tables[ZNODE_EVENTS.name]) - timedelta(hours=policy.full_hours)
        first += plan_thinning(table, tables[table.name], thinned_up_to)
        # A day that is not thinned yet is not whole: it would be sorted again and again.
        growing = min(today, thinned_up_to.date())
    if table.name == SOURCE:
        # Before anything is trimmed.
        first += plan_rollups(lake, cluster, tables[SOURCE], today)
    return [*first, *plan(table, look, policy, today, newest_frame, growing=growing)], look


def do_step(lake: str, cluster: str, step: MaintenanceStep, policy: Policy) -> Outcome:
    """Do one step on the table as it is now; an error is returned, not raised."""
    began = time.monotonic()
    delta = reading.open_table(lake, cluster, step.table)
    try:
        assert delta is not None
        if step.action == "thin":
            says = thin(TABLE_BY_NAME[step.table], delta, dict(step.partition)["hour"])
        elif step.action == "roll_up":
            says = roll_up(lake, cluster, delta, dict(step.partition)["day"])
        else:
            says = do(delta, step, policy.keep_hours)
    except Exception as error:  # deltalake's errors have no root of their own
        says = f"{type(error).__name__}: {error}"
        return Outcome(step.table, step.action, says, time.monotonic() - began, is_error=True)
    return Outcome(step.table, step.action, f"{step.says}: {says}", time.monotonic() - began)


def maintain(lake: str, cluster: str, names: Iterable[str], policy: Policy) -> Iterable[Outcome]:
    """Do everything there is to do for these tables; a step that fails is a table's last."""
    for name in names:
        for step in plan_table(lake, cluster, TABLE_BY_NAME[name], policy)[0]:
            yield (outcome := do_step(lake, cluster, step, policy))
            if outcome.is_error:
                break
