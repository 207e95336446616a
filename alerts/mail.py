"""A message by e-mail. Message-ID is the delivery's id; those of one incident are one thread."""

from __future__ import annotations

import smtplib
import ssl
from contextlib import closing, suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate

import structlog

from alerts.delivery import Delivery
from alerts.message import write_mail_body, write_subject
from alerts.transport import SendFailed
from zklake.settings.alert_notifiers import Mail

_LOG = structlog.get_logger()
_LONGEST_NAME = 30


class MailTransport:
    """Sends by one mail server."""

    def __init__(self, settings: Mail) -> None:
        self._settings = settings
        self._context = ssl.create_default_context(
            cafile=str(settings.ca_file) if settings.ca_file else None
        )

    def send(self, delivery: Delivery) -> None:
        """Hand it to the mail server."""
        letter = write_letter(delivery, self._settings)
        try:
            with closing(self._connect()) as server:
                if refused := server.send_message(letter):
                    # Others have it: sent again, they would have it twice.
                    _LOG.warning(
                        "the mail server refused some recipients", recipients=sorted(refused)
                    )
                # It has the letter: whatever it says now, it must not get it again.
                with suppress(OSError, smtplib.SMTPException):
                    server.quit()
        except smtplib.SMTPResponseException as error:
            raise SendFailed(f"returned {error.smtp_code}") from error
        except smtplib.SMTPRecipientsRefused as error:
            raise SendFailed("refused every recipient") from error
        except (OSError, smtplib.SMTPException) as error:
            raise SendFailed(f"cannot be reached: {type(error).__name__}: {error}") from error

    def _connect(self) -> smtplib.SMTP:
        settings = self._settings
        host, _, port = settings.smtp.rpartition(":")
        host = host.strip("[]")
        context = self._context
        server: smtplib.SMTP
        if settings.security == "tls":
            server = smtplib.SMTP_SSL(host, int(port), timeout=settings.timeout_s, context=context)
        else:
            server = smtplib.SMTP(host, int(port), timeout=settings.timeout_s)
        try:
            if settings.security == "starttls":
                server.starttls(context=context)
            if settings.user is not None and settings.password is not None:
                server.login(settings.user, settings.password.get_secret_value())
        except BaseException:
            server.close()
            raise
        return server


def write_letter(delivery: Delivery, settings: Mail) -> EmailMessage:
    """The e-mail; no name can add a header to it."""
    letter = EmailMessage(policy=SMTP)
    # A line of References that is longer than 78 would be written as encoded words, and is no id.
    domain = f"{delivery.message['incident']['cluster'][:_LONGEST_NAME]}.zklake"
    letter["Subject"] = write_subject(delivery, settings.subject)
    letter["From"] = settings.sender
    letter["To"] = ", ".join(settings.to)
    letter["Date"] = formatdate()
    letter["Message-ID"] = f"<{delivery.id}@{domain}>"
    letter["References"] = f"<{delivery.incident_id}@{domain}>"
    letter["Auto-Submitted"] = "auto-generated"
    letter.set_content(write_mail_body(delivery, settings.body))
    return letter
