"""A message by HTTP POST. Idempotency-Key is the delivery's id: who sees it twice drops one."""

from __future__ import annotations

import http.client
import ssl
import urllib.error
import urllib.request
from typing import Any

from alerts.delivery import Delivery
from alerts.message import write_body
from alerts.transport import SendFailed
from zklake import __version__
from zklake.settings.alert_notifiers import Webhook


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """A POST that is redirected becomes a GET: the message would be lost."""


class WebhookTransport:
    """POSTs to one address."""

    def __init__(self, settings: Webhook) -> None:
        self._settings = settings
        context = ssl.create_default_context(
            cafile=str(settings.ca_file) if settings.ca_file else None
        )
        self._opener = urllib.request.build_opener(
            _NoRedirect, urllib.request.HTTPSHandler(context=context)
        )

    def send(self, delivery: Delivery) -> None:
        """POST it; any 2xx is a yes."""
        settings = self._settings
        given = {name: value.get_secret_value() for name, value in settings.headers.items()}
        request = urllib.request.Request(  # noqa: S310
            settings.url.get_secret_value(),
            data=write_body(delivery, settings.body).encode("utf-8", "backslashreplace"),
            headers={
                "User-Agent": f"zklake/{__version__}",
                **given,
                "Content-Type": settings.content_type,
                "Idempotency-Key": delivery.id,
            },
            method="POST",
        )
        try:
            with self._opener.open(request, timeout=settings.timeout_s) as answer:
                status = answer.status
        except urllib.error.HTTPError as error:
            with error:
                status = error.code
        except urllib.error.URLError as error:
            raise SendFailed(f"cannot be reached: {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise SendFailed(f"connection lost: {type(error).__name__}") from error
        if not 200 <= status < 300:
            raise SendFailed(f"returned HTTP {status}")
