"""How it stands: which incidents are open now, and what was sent of late. Changes nothing."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from alerts.evaluation import RuleEvaluator
from alerts.incident import Incident
from alerts.journal_file import connect_to_read, explaining
from alerts.journal_rows import list_deliveries, list_open
from alerts.reconciliation import go_on, reconcile
from zklake.settings.alerts import AlertsSettings


class Present(NamedTuple):
    """Incidents that are open, and messages, the newest first."""

    incidents: list[Incident]
    deliveries: list[dict[str, Any]]
    # The lake says nothing: the incidents are those of the last look.
    is_blind: bool


def read_present(
    lake: str, cluster: str, settings: AlertsSettings, now: datetime, *, most: int
) -> Present:
    """As the lake and the journal say."""
    known, deliveries = _read_journal(settings.journal, cluster, most)
    evaluations = RuleEvaluator(lake, cluster).evaluate(settings.list_rules(), {}, now)
    judged = {evaluation.rule.title for evaluation in evaluations}
    # What cannot be judged is as it was.
    found = [go_on(one) for one in known if one.rule not in judged]
    for evaluation in evaluations:
        mine = [one for one in known if one.rule == evaluation.rule.title]
        changes = reconcile(evaluation, None, mine, ())
        found += [*changes.opened, *changes.lasting]
    found.sort(key=lambda one: (one.opened_at, one.id))
    return Present(found, deliveries, is_blind=not evaluations)


def _read_journal(
    path: str, cluster: str, most: int
) -> tuple[list[Incident], list[dict[str, Any]]]:
    connection = connect_to_read(path, cluster)
    if connection is None:
        return [], []
    with closing(connection), explaining(path):
        return list_open(connection, cluster), list_deliveries(connection, most)
