"""The settings of /metrics: under which names, how finely, of which groups, how much at most."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from zklake.settings.group import Group
from zklake.settings.values import NamePattern

SetName = Literal["zklake", "lag_exporter", "kminion", "kafka_exporter", "burrow"]


class MetricsSettings(Group):
    """`/metrics` of `zklake dashboard`: see docs/metrics.md."""

    sets: Annotated[tuple[SetName, ...], Field(min_length=1)] = ("zklake",)
    """Sets of names at /metrics: zklake, lag_exporter, kminion, kafka_exporter, burrow."""
    detail: Literal["groups", "partitions"] = "groups"
    """How fine our own names go: groups, or partitions too. The other sets always do both."""
    top: Annotated[int, Field(ge=0)] = 0
    """Only so many groups, those that are farthest behind; 0: all."""
    only_bad: bool = False
    """Only groups whose status is not OK; one that is not known is not OK."""
    groups: tuple[NamePattern, ...] = ("*",)
    """Groups that are exported; `*` is any part of a name."""
    exclude_groups: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""
    topics: tuple[NamePattern, ...] = ("*",)
    """Topics that are exported, of the cluster and of groups; `*` is any part of a name."""
    exclude_topics: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""
    member_labels: bool = False
    """Name each partition's owner in lag_exporter's labels; a rebalance makes new series then."""
    most_series: PositiveInt = 50_000
    """Series of one set at most; whoever is farthest behind stays, the rest is counted."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len(set(self.sets)) < len(self.sets):
            raise ValueError("sets: each may be named once")
        return self
