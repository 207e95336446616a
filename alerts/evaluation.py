"""Evaluates rules: which incidents there are, and up to when each rule's history is whole."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from alerts.incident import Incident, IncidentSubject, Spell
from alerts.incidents import Terms, find_doubts, find_incidents
from alerts.rules import KIND_BY_NAME
from delta_tables.live.freshness import read_sampled_at, read_watermark
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.errors import LakeError
from zklake.settings.alert_rules import Rule

# Rows of lag are kept for so long; of what is older only its last state is known.
LONGEST = timedelta(days=30)
# Clocks of brokers, ZooKeeper and watcher may differ by so much.
_SLACK = timedelta(minutes=5)


class Evaluation(NamedTuple):
    """What one rule finds."""

    rule: Rule
    # Up to when its history is whole.
    horizon: datetime
    incidents: list[Incident]
    doubts: dict[IncidentSubject, list[Spell]]


class RuleEvaluator:
    """Evaluates rules over the history of one lake."""

    def __init__(self, lake: str, cluster: str) -> None:
        self.cluster = cluster
        self._tables = Tables(lake, cluster, look_every_s=0)
        # By rule: of which tables and which time, and what was found.
        self._spells: dict[str, tuple[Hashable, list[Spell]]] = {}

    def evaluate(
        self,
        rules: Sequence[Rule],
        since: Mapping[str, datetime],
        now: datetime,
        failures: dict[str, str] | None = None,
    ) -> list[Evaluation]:
        """What each rule finds since its own time; none of a rule whose tables are missing.

        A table that cannot be read fails all, or the rules that read it, into `failures`.
        """
        return self._tables.read(lambda tables: self._evaluate(tables, rules, since, now, failures))

    def _evaluate(
        self,
        tables: Tables,
        rules: Sequence[Rule],
        since: Mapping[str, datetime],
        now: datetime,
        failures: dict[str, str] | None,
    ) -> list[Evaluation]:
        watermark = read_watermark(tables)
        clocks = {"watermark": watermark, "sampled": read_sampled_at(tables), "now": now}
        evaluations = []
        for rule in rules:
            kind = KIND_BY_NAME[rule.kind]
            horizon = clocks[kind.clock]
            if horizon is None or watermark is None or not tables.has(*kind.reads):
                continue
            # A lake that is silent for days must still show its last event.
            last = watermark if kind.clock == "now" else horizon
            start = min(since.get(rule.title, horizon - LONGEST), last) - find_lookback(rule)
            try:
                evaluations.append(self._judge(tables, rule, start, min(horizon, now)))
            except LakeError as error:
                if failures is None:
                    raise
                failures[rule.title] = str(error)
        return evaluations

    def _judge(self, tables: Tables, rule: Rule, start: datetime, horizon: datetime) -> Evaluation:
        kind = KIND_BY_NAME[rule.kind]
        # Whole minutes: most looks find the lake as it was, and need not ask it again.
        minute = horizon.replace(second=0, microsecond=0)
        span = Span(start.replace(second=0, microsecond=0), minute + timedelta(minutes=1))
        key = (span, tables.list_states(*kind.reads))
        known = self._spells.get(rule.title)
        if known is None or known[0] != key:
            known = self._spells[rule.title] = key, kind.find(tables, rule, span)
        spells = known[1]
        terms = Terms(self.cluster, rule.title, rule.severity, rule.for_s, rule.clear_s)
        found = find_incidents(spells, terms, horizon)
        return Evaluation(rule, horizon, found, find_doubts(spells, horizon))


def find_lookback(rule: Rule) -> timedelta:
    """How long before some time that may have begun which opens after it."""
    seconds = rule.for_s + rule.clear_s + KIND_BY_NAME[rule.kind].count_lookback(rule)
    return timedelta(seconds=seconds) + _SLACK


def backtest(
    lake: str, cluster: str, rule: Rule, since: datetime, until: datetime
) -> tuple[Evaluation | None, list[Incident]]:
    """When the rule would have fired: incidents that opened in that time."""
    evaluations = RuleEvaluator(lake, cluster).evaluate([rule], {rule.title: since}, until)
    if not evaluations:
        return None, []
    return evaluations[0], [one for one in evaluations[0].incidents if one.opened_at >= since]
