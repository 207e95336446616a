"""The moments of a scene as a table in Markdown: the truth, Burrow, ours in its shape, our own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tests.e2e.burrow_scene import Moment

_HEAD = (
    "Moment",
    "Broker and ZooKeeper",
    "Burrow",
    "zklake, Burrow's shape",
    "zklake's own status",
    "Folded after",
)


def write_table(moments: Iterable[Moment]) -> str:
    """One row per moment."""
    rows = [_HEAD, ("---",) * len(_HEAD), *(_write_row(moment) for moment in moments)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _write_row(moment: Moment) -> tuple[str, ...]:
    truth = moment.truth
    owned = Counter(_shorten(owner) for owner in truth.owners.values())
    return (
        moment.title,
        f"lag {truth.lag}; members {truth.members}; owners {_count(owned)}",
        _write_answer(moment.burrow, truth.offsets),
        _write_answer(moment.ours, truth.offsets),
        _count(Counter(moment.statuses)),
        f"{moment.folded_after_s:.0f} s",
    )


def _write_answer(answer: dict[str, Any], offsets: dict[int, int]) -> str:
    partitions: Sequence[dict[str, Any]] = answer["partitions"]
    statuses = Counter(one["status"] for one in partitions)
    owners = Counter(_shorten(one["owner"]) for one in partitions if one["owner"])
    stale = [
        str(one["partition"])
        for one in partitions
        if one["end"] and offsets.get(one["partition"], 0) - one["end"]["offset"] > 500
    ]
    text = f"{answer['status']} ({_count(statuses)}); lag {answer['totallag']}; "
    text += f"owners {_count(owners)}"
    return text + (f"; offset stands still at partition {', '.join(stale)}" if stale else "")


def _count(words: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(words.items())) or "none"


def _shorten(owner: str) -> str:
    """readers_a-0 -> a."""
    return owner.rpartition("-")[0].rpartition("_")[2] or owner
