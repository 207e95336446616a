"""The settings of maintenance: how long things are kept, and how often somebody looks."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from zklake.settings.group import Group

_RETENTION = re.compile(r"[a-z_]+=\d{1,5}")


def _check_retention(text: str) -> str:
    if not _RETENTION.fullmatch(text):
        raise ValueError("expected TABLE=DAYS, each (0 days: forever)")
    return text


class MaintenanceSettings(Group):
    """What the stream does for its lake between batches, and `zklake maintain` by hand."""

    enabled: bool = True
    """Maintain the lake between batches; `zklake maintain` works in any case."""
    interval_s: Annotated[int, Field(ge=10)] = 3600
    """Time between two looks at a table."""
    keep_hours: Annotated[int, Field(ge=1)] = 2
    """How long replaced files and their log stay: a reader may hold a snapshot for so long."""
    sample_days: Annotated[int, Field(ge=0)] = 7
    """Days for which offset and sample records stay in znode_events; 0: for ever."""
    retention: tuple[Annotated[str, AfterValidator(_check_retention)], ...] = ()
    """Days for which rows of a table stay, as TABLE=DAYS, where not as in docs/tables.md."""
