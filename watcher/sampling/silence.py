"""Which brokers do not answer, and since which reason: one log line per change."""

from __future__ import annotations

from collections.abc import Collection

import structlog

from watcher.sampling.ends import BrokerAnswer

log = structlog.get_logger()


class FailedBrokers:
    """Brokers whose last round failed."""

    def __init__(self) -> None:
        self._reasons: dict[int, str] = {}

    @property
    def brokers(self) -> set[int]:
        """Those that do not answer."""
        return set(self._reasons)

    def note(self, answer: BrokerAnswer) -> None:
        """A broker has answered, or failed to."""
        before = self._reasons.pop(answer.broker_id, None)
        if answer.failure is not None:
            reason = self._reasons[answer.broker_id] = answer.failure.reason
            if before is None:
                log.warning("broker does not answer", broker_id=answer.broker_id, reason=reason)
        elif before is not None:
            log.info("broker answers again", broker_id=answer.broker_id)

    def forget_others(self, leading: Collection[int]) -> None:
        """A broker that leads nothing is not asked, and so not silent."""
        self._reasons = {each: why for each, why in self._reasons.items() if each in leading}
