"""Sends what the journal says is due. One thread per notifier: who fails delays only himself."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog
from jinja2 import TemplateError

from alerts.command import CommandTransport
from alerts.delivery import Delivery
from alerts.journal import Journal
from alerts.mail import MailTransport
from alerts.message import check_template
from alerts.transport import SendFailed, Transport
from alerts.webhook import WebhookTransport
from zklake.errors import SettingsError
from zklake.settings.alert_notifiers import Command, Mail, Notifier, Webhook

_LOG = structlog.get_logger()
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 300.0
_POLL_S = 0.5


def build_transport(notifier: Notifier) -> Transport:
    """The way to a receiver; SettingsError when a template or a file of it is wrong."""
    what = f"alerts.notifiers, {notifier.title}"
    check_template(f"{what}, body", notifier.body)
    try:
        match notifier:
            case Webhook():
                return WebhookTransport(notifier)
            case Command():
                return CommandTransport(notifier)
            case Mail():
                check_template(f"{what}, subject", notifier.subject)
                return MailTransport(notifier)
    except OSError as error:
        raise SettingsError(f"{what}: ca_file cannot be read: {error}") from error
    raise AssertionError(notifier)


class NotificationSender:
    """Sends for one notifier."""

    def __init__(self, notifier: Notifier, journal: Journal) -> None:
        self.name = notifier.title
        self._journal = journal
        self._transport = build_transport(notifier)

    def send_due(self, stopping: threading.Event | None = None) -> int:
        """Try everything that is due, once each; returns how many arrived."""
        arrived = 0
        # What fails is due again later than this, however long the others take.
        now = datetime.now(UTC)
        while stopping is None or not stopping.is_set():
            delivery = self._journal.take(self.name, now)
            if delivery is None:
                break
            arrived += self._try(delivery)
        return arrived

    def _try(self, delivery: Delivery) -> bool:
        fields = {"notifier": self.name, "delivery": delivery.id, "event_sent": delivery.event}
        try:
            self._transport.send(delivery)
        except (SendFailed, TemplateError) as error:
            self._fail(delivery, str(error), fields)
            return False
        except Exception as error:  # its text may hold anything, a header among it
            self._fail(delivery, f"failed: {type(error).__name__}", fields)
            return False
        self._journal.mark_sent(delivery.id, datetime.now(UTC))
        _LOG.info("sent", **fields, summary=delivery.message["summary"])
        return True

    def _fail(self, delivery: Delivery, error: str, fields: dict[str, str]) -> None:
        wait_s = find_wait_s(delivery.attempts)
        again_at = datetime.now(UTC) + timedelta(seconds=wait_s)
        self._journal.mark_failed(delivery.id, error, again_at)
        _LOG.warning("not sent", **fields, error=error, again_in_s=wait_s)


def find_wait_s(attempts: int) -> float:
    """How long to wait after so many attempts."""
    return float(min(_FIRST_WAIT_S * 2 ** min(attempts - 1, 20), _LONGEST_WAIT_S))


class NotificationSenders:
    """A thread for each notifier, until stopped."""

    def __init__(self, senders: Sequence[NotificationSender]) -> None:
        self.error: Exception | None = None
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(one,), name=one.name, daemon=True)
            for one in senders
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self, patience_s: float) -> None:
        """End; what is under way may end first, but all of it within that time."""
        self._stopping.set()
        deadline = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, sender: NotificationSender) -> None:
        while not self._stopping.is_set():
            try:
                sender.send_due(self._stopping)
            except Exception as error:  # the journal: without it nothing may be sent
                self.error = error
                return
            self._stopping.wait(_POLL_S)
