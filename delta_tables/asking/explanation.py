"""What made a group's lag rise, as data and in plain sentences; why.py beside it finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Row = dict[str, Any]

_SENTENCES: Mapping[str, str] = {
    "offsets_rewound": "{entity} were set back: {evidence}",
    "rebalance_storm": "{entity} rebalanced again and again: {evidence}",
    "broker_left": "{entity} left: {evidence}",
    "member_lost": "{entity} was lost: {evidence}",
    "rebalance_failed": "{entity} rebalanced in vain: {evidence}",
    "rebalance": "{entity} rebalanced: {evidence}",
    "config_changed": "the config of {entity} changed: {evidence}",
    "leader_changed": "leaders of {entity} changed: {evidence}",
    "controller_changed": "the controller changed: {entity}: {evidence}",
    "consumer_stalled": "{entity} stalled: {evidence}",
    "group_stopped": "{entity} had stopped: {evidence}",
    "partitions_unowned": "{entity} were unowned: {evidence}",
    "producer": "{entity} wrote more than was read: {evidence}",
    "consumers_slowed": "{entity} read less than was written: {evidence}",
}


@dataclass(frozen=True)
class Cause:
    """What may have made the lag rise; its rows are those that show it."""

    rank: int
    cause: str
    entity: str
    at: datetime
    evidence: str
    score: float
    source_table: str | None
    source_seq: int | None
    rows: list[Row] = field(default_factory=list)

    @property
    def says(self) -> str:
        """One sentence without its time."""
        sentence = _SENTENCES.get(self.cause, f"a {self.cause} of {{entity}}: {{evidence}}")
        return sentence.format(entity=self.entity, evidence=self.evidence)


@dataclass(frozen=True)
class Explanation:
    """One group on one coordinator; rise None: its lag did not rise in that time."""

    cluster: str
    coordinator: str
    group_id: str
    searched_from: datetime
    searched_to: datetime
    rise: Row | None
    causes: list[Cause]
    # Of the group, from group_lag_now; None where its lag is not followed.
    now: Row | None
    doubts: list[str]


def tell(explanation: Explanation) -> Iterator[str]:
    """The same for people, line by line; times are UTC."""
    who = f"group {explanation.group_id} ({explanation.coordinator}, {explanation.cluster})"
    if explanation.rise is None:
        span = f"{_show(explanation.searched_from)} and {_show(explanation.searched_to)}"
        yield f"The lag of {who} did not rise notably between {span}."
        yield _tell_now(explanation.now)
        return
    rise = explanation.rise
    yield (
        f"The lag of {who} rose from {rise['lag_before']} to {rise['lag_after']} between "
        f"{_show(rise['rise_from'])} and {_show(rise['rise_to'])}."
    )
    first, *others = explanation.causes
    if first.source_table is None:
        yield "Nothing that happened to its members, brokers, topics or configs explains it:"
    yield f"Most likely: {_tell_cause(first)}"
    for cause in others:
        yield f"  then: {_tell_cause(cause)}"


def _tell_cause(cause: Cause) -> str:
    behind = f" [{cause.source_table} {cause.source_seq}]" if cause.source_table else ""
    return f"{_show(cause.at)} {cause.says} (score {cause.score:g}){behind}"


def _tell_now(now: Row | None) -> str:
    if now is None:
        return "Its lag is not followed: no offset of it is known."
    lag = "not known" if now["total_lag"] is None else now["total_lag"]
    since = f" since {_show(now['status_since'])}" if now["status_since"] else ""
    return f"Its lag is {lag}, status {now['status'] or 'not known'}{since}."


def _show(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
