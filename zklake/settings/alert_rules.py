"""The rules of alerts as a person writes them: [[alerts.rules]]. What each finds is not known here.

Every rule has the same four words: for how long it must last, how long a pause must be to end it.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from zklake.settings.group import Group
from zklake.settings.values import Name, NamePattern

# What is longer, or without end, cannot be taken from a date.
_LONGEST_S = 10 * 365 * 86_400
Seconds = Annotated[float, Field(ge=0, le=_LONGEST_S)]
Severity = Literal["info", "warning", "critical"]
# From best to worst but OK, as docs/status.md has them.
Level = Literal["WARN", "REWIND", "ABANDONED", "UNOWNED", "STALLED", "STOPPED"]


class Rule(Group):
    """What all rules have."""

    name: Name | None = None
    """Under which its incidents are known; not set: the rule's own. Each may be given once."""
    severity: Severity = "warning"
    """info, warning or critical: what notifiers choose by."""
    for_s: Seconds = 0
    """It must last so long."""
    clear_s: Seconds = 0
    """A pause that is shorter does not end it."""

    @property
    def kind(self) -> str:
        """Which rule it is."""
        return str(type(self).model_fields["rule"].default)

    @property
    def title(self) -> str:
        """The name that counts."""
        return self.name or self.kind


class GroupStatus(Rule):
    """A group's status is at or above a level; the worst of its partitions counts."""

    rule: Literal["group_status"] = "group_status"
    for_s: Seconds = 60
    """It must last so long."""
    clear_s: Seconds = 60
    """A pause that is shorter does not end it."""
    level: Level = "UNOWNED"
    """The least status, from WARN to STOPPED (docs/status.md)."""
    groups: tuple[NamePattern, ...] = ("*",)
    """Groups that are meant; `*` is any part of a name."""
    exclude_groups: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class OfflinePartition(Rule):
    """A partition has no leader, or one that is not registered; not while its topic is deleted."""

    rule: Literal["offline_partition"] = "offline_partition"
    severity: Severity = "critical"
    """info, warning or critical: what notifiers choose by."""
    for_s: Seconds = 30
    """It must last so long."""
    clear_s: Seconds = 30
    """A pause that is shorter does not end it."""
    by: Literal["cluster", "topic", "partition"] = "cluster"
    """One incident for the whole cluster, for each topic, or for each partition."""
    topics: tuple[NamePattern, ...] = ("*",)
    """Topics that are meant; `*` is any part of a name."""
    exclude_topics: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class ControllerFlap(Rule):
    """The controller changes again and again."""

    rule: Literal["controller_flap"] = "controller_flap"
    changes: Annotated[int, Field(ge=1)] = 3
    """So many changes …"""
    within_s: Annotated[Seconds, Field(gt=0)] = 600
    """… within so long. It ends when there are fewer."""


class RebalanceStorm(Rule):
    """A group rebalances again and again."""

    rule: Literal["rebalance_storm"] = "rebalance_storm"
    rebalances: Annotated[int, Field(ge=1)] = 5
    """So many rebalances of one group …"""
    within_s: Annotated[Seconds, Field(gt=0)] = 600
    """… within so long. It ends when there are fewer."""
    groups: tuple[NamePattern, ...] = ("*",)
    """Groups that are meant; `*` is any part of a name."""
    exclude_groups: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class BrokerDown(Rule):
    """A broker that was registered is not."""

    rule: Literal["broker_down"] = "broker_down"
    severity: Severity = "critical"
    """info, warning or critical: what notifiers choose by."""
    for_s: Seconds = 60
    """It must last so long."""
    forget_s: Annotated[Seconds, Field(gt=0)] = 604_800
    """A broker that is away for longer was taken out of service: that ends it."""


class PipelineStale(Rule):
    """The lake does not follow: its last event is old."""

    rule: Literal["pipeline_stale"] = "pipeline_stale"
    severity: Severity = "critical"
    """info, warning or critical: what notifiers choose by."""
    stale_after_s: Annotated[Seconds, Field(ge=90)] = 150
    """The last event is older than this; a quiet cluster has one a minute."""


class GroupLag(Rule):
    """A group is many records behind, over all its partitions."""

    rule: Literal["group_lag"] = "group_lag"
    for_s: Seconds = 300
    """It must last so long."""
    clear_s: Seconds = 60
    """A pause that is shorter does not end it."""
    records: Annotated[int, Field(ge=1, le=2**53)] = 100_000
    """Its lag is at least this."""
    groups: tuple[NamePattern, ...] = ("*",)
    """Groups that are meant; `*` is any part of a name."""
    exclude_groups: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class TimeLag(Rule):
    """A group is far behind in time on one of its partitions."""

    rule: Literal["time_lag"] = "time_lag"
    for_s: Seconds = 300
    """It must last so long."""
    clear_s: Seconds = 60
    """A pause that is shorter does not end it."""
    lag_seconds: Annotated[Seconds, Field(gt=0)] = 900
    """Its lag_seconds are at least this (docs/status.md)."""
    groups: tuple[NamePattern, ...] = ("*",)
    """Groups that are meant; `*` is any part of a name."""
    exclude_groups: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class UnderReplicated(Rule):
    """The ISR of a partition is smaller than its list of replicas."""

    rule: Literal["under_replicated"] = "under_replicated"
    for_s: Seconds = 300
    """It must last so long."""
    clear_s: Seconds = 60
    """A pause that is shorter does not end it."""
    by: Literal["cluster", "topic", "partition"] = "cluster"
    """One incident for the whole cluster, for each topic, or for each partition."""
    topics: tuple[NamePattern, ...] = ("*",)
    """Topics that are meant; `*` is any part of a name."""
    exclude_topics: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class BrokerFlap(Rule):
    """A broker leaves again and again."""

    rule: Literal["broker_flap"] = "broker_flap"
    departures: Annotated[int, Field(ge=1)] = 3
    """So many departures of one broker …"""
    within_s: Annotated[Seconds, Field(gt=0)] = 3600
    """… within so long. It ends when there are fewer."""


RULES: tuple[type[Rule], ...] = (
    GroupStatus,
    OfflinePartition,
    ControllerFlap,
    RebalanceStorm,
    BrokerDown,
    PipelineStale,
    GroupLag,
    TimeLag,
    UnderReplicated,
    BrokerFlap,
)

if TYPE_CHECKING:
    AnyRule = Rule
else:
    # What its field `rule` says decides which it is.
    AnyRule = Annotated[reduce(or_, RULES), Field(discriminator="rule")]
