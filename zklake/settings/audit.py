"""Settings of the auditor."""

from __future__ import annotations

from pydantic import PositiveInt

from zklake.settings.group import Group
from zklake.settings.values import Listen


class AuditSettings(Group):
    """`zklake audit`: how much it looks at, and how fast."""

    reads_per_second: PositiveInt = 200
    """Pace at which the tree is read."""
    records: PositiveInt = 100_000
    """Of the log, so many of the newest records are held against the lake in a round."""
    patience_s: PositiveInt = 300
    """Seconds that the lake may take to catch up; on a quiet cluster it moves once a minute."""
    interval_s: PositiveInt = 600
    """With --follow: seconds from the start of a round to the next."""
    http: Listen = "127.0.0.1:9467"
    """With --follow: where /healthz, /readyz and /metrics answer."""
