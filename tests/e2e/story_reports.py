"""The lab's consumers' own lines of their rebalances, one by one against ZooKeeper's log and rows.

A claim is written between the line that begins a try and the line that ends it: both are of one
machine, so the try that made it is known without guessing, however slow the machine is.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.e2e.lake_past import Row
from tests.e2e.theatre import RULES
from tests.reference.group_log import Partition, Seen

Report = dict[str, Any]
_ENDS = ("rebalanced", "conflict", "failed", "no_brokers", "gave_up", "stopped", "expired")


@dataclass
class Try:
    """What one consumer tells of one try: from its first line to its last, if it came to that."""

    session: int
    began_ms: int
    ended_ms: int | None = None
    end: str = "cut off"
    owns: frozenset[Partition] = frozenset()
    claims: list[Seen] = field(default_factory=list)
    releases: list[Seen] = field(default_factory=list)

    @property
    def traces(self) -> list[Seen]:
        """What it left in ZooKeeper."""
        return self.claims or self.releases


def read_tries(directory: Path, group_id: str) -> list[Try]:
    """Of all members of a group, each member's in order."""
    found: list[Try] = []
    for file in sorted(directory.glob(f"{group_id}_*.log")):
        lines = file.read_text().splitlines()
        found += _split([json.loads(line) for line in lines if line[:1] == "{"])
    return found


def _split(reports: list[Report]) -> Iterator[Try]:
    session, current = 0, None
    for number, report in enumerate(reports):
        at_ms, event = report["at_ms"], report["event"]
        if event == "registered":
            session = int(report["session_id"], 16)
        if event in ("registered", "rebalancing") and current is not None:
            yield current
            current = None
        if event == "rebalancing":
            current = Try(session, at_ms)
        elif event in _ENDS and current is not None:
            current.ended_ms, current.end = at_ms, event
            if event == "rebalanced":
                current.owns = _read_owns(reports[number + 1 :])
            yield current
            # After a refusal it tries again, without another first line.
            current = Try(session, at_ms) if event in ("conflict", "failed") else None
    if current is not None:
        yield current


def _read_owns(reports: Iterable[Report]) -> frozenset[Partition]:
    """What the next line tells; one that was killed in between told nothing more."""
    owned: dict[str, list[int]] = next(
        (r["partitions"] for r in reports if r["event"] == "owns"), {}
    )
    return frozenset((topic, number) for topic, numbers in owned.items() for number in numbers)


def check_told(rows: list[Row], tries: list[Try], log: list[Seen], group_id: str) -> Iterator[str]:
    """What is wrong between the rows of a group and what its consumers told."""
    yield from _trace_tries(tries, log, group_id)
    yield from _check_lines(rows, tries, log, group_id)
    yield from _check_owners(rows, tries, log, group_id)


def _trace_tries(tries: list[Try], log: list[Seen], group_id: str) -> Iterator[str]:
    """Give each try what it left in ZooKeeper; yields what is nobody's, or not as it was told."""
    by_session: dict[int, list[Try]] = defaultdict(list)
    for each in tries:
        by_session[each.session].append(each)
    for seen in _list_owner_changes(log, group_id):
        change = seen.change
        if change.ephemeral_owner not in by_session or change.session_close:
            continue
        one = _find_try(by_session[change.ephemeral_owner], seen)
        if one is None:
            yield f"nobody tells of {change.op} {change.path} at {change.time_ms}"
        elif change.op == "create":
            one.claims.append(seen)
        else:
            one.releases.append(seen)
    for each in tries:
        claimed = Counter(_place(seen) for seen in each.claims)
        if each.end == "rebalanced" and claimed != Counter(each.owns):
            yield f"told {sorted(each.owns)} at {each.ended_ms}, and claimed {sorted(claimed)}"


def _find_try(tries: list[Try], seen: Seen) -> Try | None:
    """The first that was not over, and did not have it yet: a line comes after what it tells."""
    ms, is_claim = seen.change.time_ms, seen.change.op == "create"
    for one in tries:
        has_ended = one.ended_ms is not None and one.ended_ms < ms
        has_it = is_claim and _place(seen) in {_place(claim) for claim in one.claims}
        if one.began_ms <= ms and not has_ended and not has_it:
            return one
    return None


def _check_lines(
    rows: list[Row], tries: list[Try], log: list[Seen], group_id: str
) -> Iterator[str]:
    """Each try that left a trace is in one row, and each row's claims are those of its tries."""
    for one in tries:
        # What is given back last may come after the last claim, and still belongs to the row.
        begins = [row["valid_from_seq"] for row in rows]
        found = sorted({bisect(begins, seen.seq) - 1 for seen in one.traces})
        if (len(found) > 1 and not _is_torn(one)) or found[:1] == [-1]:
            yield f"a try of {one.began_ms} to {one.ended_ms} is in rows {found}, and not in one"
    claims = [s for s in _list_owner_changes(log, group_id) if s.change.op == "create"]
    for seen in claims:
        if sum(_is_in(seen, row) for row in rows) != 1:
            yield f"{seen} is not in one row"
    for row in rows:
        yield from _check_row(row, tries, [seen for seen in claims if _is_in(seen, row)])


def _check_row(row: Row, tries: list[Try], claims: list[Seen]) -> Iterator[str]:
    """The busiest consumer's tries are the attempts; no conflict is one that nobody tells of."""
    mine = [(one, [seen for seen in one.claims if _is_in(seen, row)]) for one in tries]
    rounds = Counter(one.session for one, made in mine if any(seen.is_read for seen in made))
    # An impostor of the story tells nothing, and claims once; nor does one whom nobody could read.
    if row["attempts"] != max(max(rounds.values(), default=0), bool(claims)):
        yield f"{row['attempts']} attempts at {row['valid_from_at']}, told {rounds}"
    given = sum(len(made) for one, made in mine if one.end == "conflict")
    strange = {seen.change.ephemeral_owner for seen in claims} - {one.session for one in tries}
    # A watcher that is later than a backoff is long cannot tell one from an extra round.
    late_ms = max((seen.ms - seen.change.time_ms for seen in claims), default=0)
    is_late = late_ms >= RULES.pace.extra_round_ms
    if row["conflicts"] > given and not strange and not is_late:
        yield f"{row['conflicts']} conflicts at {row['valid_from_at']}, and {given} were told"


def _is_torn(one: Try) -> bool:
    """Nothing was seen of it for so long that time alone ended the rebalance."""
    pauses = (after.ms - before.ms for before, after in pairwise(one.traces))
    return any(ms > min(RULES.pace.quiet_ms, RULES.pace.fail_ms) for ms in pauses)


def _spans(one: Try, seq: int) -> bool:
    """Some of what it left was seen by then, and some was not."""
    return one.traces[0].seq <= seq < one.traces[-1].seq


def _check_owners(
    rows: list[Row], tries: list[Try], log: list[Seen], group_id: str
) -> Iterator[str]:
    """When a rebalance has settled, owners are those who told last that they own it."""
    told = [one for one in tries if one.end == "rebalanced" and one.claims]
    for row in rows:
        until = row["valid_to_seq"]
        owners: dict[Partition, int] = {}
        for seen in _list_owner_changes(log, group_id):
            if seen.seq <= until:
                owners.pop(_place(seen), None)
                if seen.change.op == "create":
                    owners[_place(seen)] = seen.change.ephemeral_owner
        done = [one for one in told if one.claims[-1].seq <= until]
        last = {one.session: one for one in sorted(done, key=lambda one: one.claims[-1].seq)}
        torn = {one.session for one in tries if _is_torn(one) and _spans(one, until)}
        for session in ({one.session for one in tries} & {*owners.values()}) - torn:
            mine = {place for place, owner in owners.items() if owner == session}
            said = last[session].owns if session in last else frozenset()
            if row["outcome"] == "settled" and row["members_after"] and mine != said:
                yield f"at the end of {row['valid_from_at']} {sorted(mine)}, told {sorted(said)}"


def _list_owner_changes(log: Iterable[Seen], group_id: str) -> list[Seen]:
    below = f"/consumers/{group_id}/owners/"
    # Only partitions: a topic's directory is nobody's.
    return [one for one in log if one.change.path.startswith(below) and one.change.ephemeral_owner]


def _place(seen: Seen) -> Partition:
    topic, number = seen.change.path.split("/")[-2:]
    return topic, int(number)


def _is_in(seen: Seen, row: Row) -> bool:
    return bool(row["valid_from_seq"] <= seen.seq <= row["valid_to_seq"])
