"""How it stands: which incidents are open now, and what was sent of late. Changes nothing."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from alerts.incident import Incident
from alerts.journal_file import connect_to_read, explaining
from alerts.journal_rows import list_deliveries, list_open
from alerts.looking import Looker
from alerts.reconciliation import Known, go_on, reconcile
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
    sights = Looker(lake, cluster).look(settings.list_rules(), {}, now)
    judged = {sight.rule.title for sight in sights}
    # What cannot be judged is as it was.
    found = [go_on(one) for one in known if one.rule not in judged]
    for sight in sights:
        mine = [one for one in known if one.rule == sight.rule.title]
        news = reconcile(sight, None, mine, ())
        found += [*news.opened, *news.lasting]
    found.sort(key=lambda one: (one.opened_at, one.id))
    return Present(found, deliveries, is_blind=not sights)


def _read_journal(path: str, cluster: str, most: int) -> tuple[list[Known], list[dict[str, Any]]]:
    connection = connect_to_read(path, cluster)
    if connection is None:
        return [], []
    with closing(connection), explaining(path):
        return list_open(connection, cluster), list_deliveries(connection, most)
