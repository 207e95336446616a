"""`zklake alerts run`: look, write down what is new, let it be sent; until stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta

import structlog
from deltalake.exceptions import DeltaError

from alerts.delivery import is_due_again, list_listeners, make_delivery
from alerts.evaluation import Evaluation, RuleEvaluator
from alerts.incident import Incident
from alerts.journal import Journal
from alerts.journal_file import holding
from alerts.reconciliation import IncidentChanges, end, reconcile
from alerts.sending import NotificationSender, NotificationSenders
from alerts.vitals import Vitals
from zklake.errors import LakeError, SettingsError
from zklake.health import serve_health
from zklake.settings.alerts import AlertsSettings

_LOG = structlog.get_logger()
# Longer than a notifier takes by default: a message that is cut off may be sent twice.
_LAST_WORDS_S = 12.0


class Daemon:
    """Follows one lake with one journal, which it holds."""

    def __init__(self, lake: str, settings: AlertsSettings, journal: Journal) -> None:
        self._settings, self._journal = settings, journal
        self._evaluator = RuleEvaluator(lake, journal.cluster)
        self.vitals = Vitals()

    def look(self, now: datetime) -> None:
        """One look; what it finds is written down as a whole, or not at all."""
        journal, rules = self._journal, self._settings.list_rules()
        failures: dict[str, str] = {}
        try:
            evaluations = self._evaluator.evaluate(rules, journal.read_horizons(), now, failures)
        except (LakeError, DeltaError, OSError) as error:  # it may be away for a while
            self._complain(f"the lake cannot be read: {error}")
            return
        with journal.changing():
            behind = [one.rule.title for one in evaluations if not self._apply_evaluation(one, now)]
            self._end_strays({rule.title for rule in rules}, now)
        count = journal.tidy(now, self._settings.give_up_s)
        if count:
            _LOG.error("gave up on messages that could not be sent in time", messages=count)
        notifiers = [notifier.title for notifier in self._settings.list_notifiers()]
        self.vitals.note(journal, [rule.title for rule in rules], notifiers, count)
        self._complain(_find_trouble(evaluations, behind, failures))

    def _apply_evaluation(self, evaluation: Evaluation, now: datetime) -> bool:
        """Whether it could be judged: what a lake that is made anew still lacks is not over."""
        journal, title = self._journal, evaluation.rule.title
        last = journal.read_horizons().get(title)
        if last is not None and evaluation.horizon < last:
            return False
        known = [one for one in journal.list_open() if one.rule == title]
        self._apply_changes(reconcile(evaluation, last, known, journal.list_past_ids(title)), now)
        journal.set_horizon(title, evaluation.horizon)
        return True

    def _end_strays(self, titles: Iterable[str], now: datetime) -> None:
        strays = [one for one in self._journal.list_open() if one.rule not in titles]
        ended = [end(one, now, "its rule was removed") for one in strays]
        self._apply_changes(IncidentChanges([], [], ended), now)

    def _apply_changes(self, changes: IncidentChanges, now: datetime) -> None:
        for incident in changes.opened:
            self._journal.add_incident(incident)
            for notifier in list_listeners(incident, self._settings.list_notifiers()):
                one = make_delivery(incident, notifier, "open", 0)
                self._journal.add_delivery(one, now, gives_up=self._is_too_old(incident, now))
        for incident in changes.lasting:
            self._repeat(incident, now)
        for incident in changes.closed:
            self._journal.close_incident(incident)
            for notifier in self._settings.list_notifiers():
                notified = self._journal.find_notified(incident.id, notifier.title)
                if notified is not None and notifier.send_close:
                    self._journal.add_delivery(make_delivery(incident, notifier, "close", 0), now)

    def _is_too_old(self, incident: Incident, now: datetime) -> bool:
        over_at = incident.closed_at
        return over_at is not None and now - over_at > timedelta(seconds=self._settings.give_up_s)

    def _repeat(self, incident: Incident, now: datetime) -> None:
        for notifier in list_listeners(incident, self._settings.list_notifiers()):
            notified = self._journal.find_notified(incident.id, notifier.title)
            if (
                notified
                and not notified.is_waiting
                and is_due_again(notifier, notified.created_at, now)
            ):
                one = make_delivery(incident, notifier, "repeat", notified.number + 1)
                self._journal.add_delivery(one, now)

    def _complain(self, text: str | None) -> None:
        if text and text != self.vitals.obstacle:
            _LOG.warning(text)
        self.vitals.obstacle = text


def _find_trouble(
    evaluations: list[Evaluation], behind: list[str], failures: dict[str, str]
) -> str | None:
    if failures:
        first = next(iter(failures.values()))
        return f"the lake cannot be read for {', '.join(failures)}: {first}"
    if not evaluations:
        return "the lake is empty: waiting"
    if behind:
        return f"the lake is older than at the last check ({', '.join(behind)}): waiting"
    return None


def run(lake: str, cluster: str, settings: AlertsSettings, stopping: threading.Event) -> None:
    """Look and send until stopped."""
    _check(settings)
    with holding(settings.journal), closing(Journal(settings.journal, cluster)) as journal:
        senders = NotificationSenders(_build_senders(settings, journal))
        daemon = Daemon(lake, settings, journal)
        with ExitStack() as stack:
            _serve(stack, settings, daemon.vitals)
            senders.start()
            try:
                while not stopping.is_set() and senders.error is None:
                    daemon.look(datetime.now(UTC))
                    stopping.wait(settings.interval_s)
            finally:
                senders.stop(_LAST_WORDS_S)
        if senders.error is not None:
            raise senders.error


def _serve(stack: ExitStack, settings: AlertsSettings, vitals: Vitals) -> None:
    if settings.http is None:
        return
    try:
        stack.enter_context(serve_health(settings.http, vitals.registry, lambda: vitals.obstacle))
    except OSError as error:
        raise SettingsError(f"alerts.http: cannot listen at {settings.http}: {error}") from error


def run_once(lake: str, cluster: str, settings: AlertsSettings) -> int:
    """One look, and one attempt for all that is due; returns how many messages arrived."""
    _check(settings)
    with holding(settings.journal), closing(Journal(settings.journal, cluster)) as journal:
        senders = _build_senders(settings, journal)
        Daemon(lake, settings, journal).look(datetime.now(UTC))
        return sum(sender.send_due() for sender in senders)


def _check(settings: AlertsSettings) -> None:
    if not settings.notifiers:
        raise SettingsError(
            "alerts.notifiers: no notifier is configured; add [[alerts.notifiers]] (docs/alerts.md)"
        )


def _build_senders(settings: AlertsSettings, journal: Journal) -> list[NotificationSender]:
    return [NotificationSender(notifier, journal) for notifier in settings.list_notifiers()]
