"""An incident's evidence as a phrase for people; JSON, mail and webhooks have it by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zklake.phrases import format_count, format_end, format_trigger, format_word, inflect
from zklake.times import write_duration

Evidence = Mapping[str, Any]

_ONE: dict[str, Callable[[Any], str]] = {
    "most_lag_of_a_partition": lambda lag: f"up to {lag:,} records behind on one partition",
    "most_lag_seconds_of_a_partition": lambda s: f"up to {write_duration(s)} behind on a partition",
    "lag": lambda lag: f"{format_count(lag, 'record')} behind",
    "partitions": lambda count: f"on {format_count(count, 'partition')}",
    "missing": lambda brokers: f"out of the ISR: {_list_brokers(brokers)}",
    "last_leader": lambda broker: f"last led by broker {broker}",
    "last_event_at": lambda at: f"last event at {at}",
    "host": lambda host: f"on {host}",
    "note": str,
}
# Rules that count: so many of them within a time.
_COUNTED = {"rebalances": "rebalance", "changes": "controller change", "departures": "departure"}
_SHOWN = 3


def format_evidence(evidence: Evidence) -> str:
    """What was found, as far as anything was."""
    return ", ".join(_list_phrases({k: v for k, v in evidence.items() if v not in (None, [])}))


def _list_phrases(left: dict[str, Any]) -> Iterator[str]:
    if "within_s" in left:
        within = write_duration(left.pop("within_s"))
        for name in _COUNTED.keys() & left.keys():
            yield f"{format_count(left.pop(name), _COUNTED[name])} or more within {within}"
    if "trigger" in left:
        member = left.pop("trigger_member_id", None)
        yield f"the last: {format_trigger(left.pop('trigger'), member)}"
    if "controller_id" in left:
        yield "the last: " + _write_controllers(left)
    if "ended_by" in left:
        yield format_end(left.pop("ended_by"), left.pop("exit", None))
    if "affected" in left:
        yield _write_affected(left.pop("affected"), left.pop("some"))
    for name, value in left.items():
        yield _ONE[name](value) if name in _ONE else f"{format_word(name)} {value}"


def _write_controllers(left: dict[str, Any]) -> str:
    before, epoch = left.pop("controller_before", None), left.pop("controller_epoch", None)
    came = f"broker {left.pop('controller_id')} became controller"
    return came + (f" after broker {before}" if before is not None else "") + f", epoch {epoch}"


def _write_affected(count: int, some: list[str]) -> str:
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return f"{', '.join(some[:_SHOWN])}{more}"


def _list_brokers(brokers: list[int]) -> str:
    return f"{inflect(len(brokers), 'broker')} {', '.join(map(str, brokers))}"
