"""What carries a message, and how it says that it could not. Retries are somebody else's."""

from __future__ import annotations

from typing import Protocol

from alerts.delivery import Delivery


class SendFailed(Exception):
    """It did not arrive, as far as we know; the text may be shown: it holds no secret."""


class Transport(Protocol):
    """One way to one receiver."""

    def send(self, delivery: Delivery) -> None:
        """Hand it over; SendFailed when that did not work."""
