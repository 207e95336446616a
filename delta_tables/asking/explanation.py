"""What made a group's lag rise, as data and in plain sentences; why.py beside it finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from zklake.phrases import format_count

Row = dict[str, Any]

_SENTENCES: Mapping[str, str] = {
    "offsets_set_back": "the offset of {entity} was set back",
    "leader_away": "{entity} was away, and {partitions} had no leader",
    "unowned": "nobody owned {partitions}",
    "owner_crashed": "{entity} had crashed and read nothing of {partitions}",
    "owner_stuck": "{entity} owned {partitions} and read nothing",
    "topic_gone": "{entity} was gone",
    "producers_faster": "producers wrote to {entity} faster than in the ten minutes before",
    "readers_slower": "{entity} read slower than in the ten minutes before",
    "began_behind": "{entity} was behind when its lag was first known",
    "unknown": "{partitions} were not read, and what held them cannot be known",
    "left": "unexplained: neither a pause nor a change of pace accounts for them",
}
CAUSES = tuple(_SENTENCES)
# So many names are said of a longer list.
_NAMED = 3


@dataclass(frozen=True)
class Cause:
    """What added so many records to a rise; its rows are those that show it."""

    rank: int
    cause: str
    entity: str
    records: int
    # Of all that the rise added, 0 to 1.
    share: float
    began_at: datetime
    ended_at: datetime
    partitions: list[str]
    source_table: str | None
    source_seq: int | None
    rows: list[Row] = field(default_factory=list)

    @property
    def says(self) -> str:
        """One sentence without its time."""
        return _SENTENCES[self.cause].format(
            entity=self.entity, partitions=_name_partitions(self.partitions)
        )


@dataclass(frozen=True)
class Rise:
    """From the lowest lag to the highest; causes in the order of the records that they added."""

    rise_from: datetime
    rise_to: datetime
    lag_before: int
    lag_after: int
    added: int
    # The highest lag that pages show within it.
    peak_lag: int
    causes: list[Cause]


@dataclass(frozen=True)
class Explanation:
    """One group on one coordinator; no rises: its lag did not rise in that time."""

    cluster: str
    coordinator: str
    group_id: str
    searched_from: datetime
    searched_to: datetime
    # In the order of time.
    rises: list[Rise]
    # The one that is explained in full: the largest, unless another was chosen.
    chosen: Rise | None
    # Of the group, from group_lag_now; None where its lag is not followed.
    now: Row | None
    doubts: list[str]


def format_explanation(explanation: Explanation) -> Iterator[str]:
    """The same for people, line by line; times are UTC."""
    who = f"group {explanation.group_id} ({explanation.coordinator}, {explanation.cluster})"
    rise = explanation.chosen
    if rise is None:
        span = f"{_show(explanation.searched_from)} and {_show(explanation.searched_to)}"
        yield f"The lag of {who} did not rise notably between {span}."
        yield _format_now(explanation.now)
        return
    yield (
        f"The lag of {who} rose by {rise.added:,} records, from {rise.lag_before:,} to "
        f"{rise.lag_after:,}, between {_show(rise.rise_from)} and {_show(rise.rise_to)}:"
    )
    for cause in rise.causes:
        yield f"  {_format_cause(cause)}"
    others = [each for each in enumerate(explanation.rises, start=1) if each[1] is not rise]
    if others:
        span = f"{_show(explanation.searched_from)} and {_show(explanation.searched_to)}"
        yield f"Other rises between {span} (--rise N):"
    for number, other in others:
        first = other.causes[0].says
        yield f"  {number}. {_show(other.rise_from)} by {other.added:,} records: {first}"


def _format_cause(cause: Cause) -> str:
    behind = f" [{cause.source_table} {cause.source_seq}]" if cause.source_table else ""
    when = f"{_show(cause.began_at)} to {_show(cause.ended_at)}"
    return f"{cause.records:,} ({cause.share:.0%}): {cause.says}; {when}{behind}"


def _name_partitions(partitions: list[str]) -> str:
    if not partitions:
        return "its partitions"
    if len(partitions) > _NAMED:
        return f"{format_count(len(partitions), 'partition')} ({', '.join(partitions[:_NAMED])}, …)"
    return ", ".join(partitions)


def _format_now(now: Row | None) -> str:
    if now is None:
        return "Its lag is not followed: no offset of it is known."
    lag = "not known" if now["total_lag"] is None else now["total_lag"]
    since = f" since {_show(now['status_since'])}" if now["status_since"] else ""
    return f"Its lag is {lag}, status {now['status'] or 'not known'}{since}."


def _show(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
