"""Groups as Burrow would see them, from the lake, now or at any moment.

Some things are coarser here than in Burrow: log ends are kept once a minute, not every 10 s, and
taken as a straight line between; a Kafka commit of an equal offset is no row of its own, so its
STALL shows as STOP; and commits are looked for in the day before a group's last one.
"""

from __future__ import annotations

from collections.abc import Collection

from dashboard.dialects.burrow.evaluation import GroupStatus, History, Owner, evaluate_group
from dashboard.dialects.burrow.sight import (
    LakeView,
    is_of,
    read_last,
    read_log_ends,
    read_owners,
    read_slots,
    read_topics,
    write_in,
)


def read_group(sight: LakeView, group_id: str) -> GroupStatus:
    """One group's status."""
    return read_groups(sight, [group_id])[group_id]


def read_groups(sight: LakeView, group_ids: Collection[str]) -> dict[str, GroupStatus]:
    """Every one's status; who is not known has one, too. Costs grow with the groups asked for."""
    found: dict[str, list[History]] = {group_id: [] for group_id in group_ids}
    for group_id, history in _read_histories(sight, group_ids) if group_ids else ():
        found[group_id].append(history)
    return {
        group_id: evaluate_group(sight.cluster, group_id, histories, sight.at_ms, sight.rules)
        for group_id, histories in found.items()
    }


def list_groups(sight: LakeView) -> dict[str, list[str]]:
    """The groups that have a status, each with its topics, sorted."""
    topics = read_topics(sight, "")
    last_ms: dict[str, int] = {}
    found: dict[str, set[str]] = {}
    for row in read_last(sight, ""):
        if is_of(row, topics):
            group_id, at_ms = row["group_id"], row["at_ms"]
            last_ms[group_id] = max(at_ms, last_ms.get(group_id, at_ms))
            found.setdefault(group_id, set()).add(row["topic"])
    oldest_ms = sight.at_ms - sight.rules.expire_group_s * 1000
    return {one: sorted(found[one]) for one in sorted(found) if last_ms[one] >= oldest_ms}


def _read_histories(sight: LakeView, group_ids: Collection[str]) -> list[tuple[str, History]]:
    groups = write_in("group_id", group_ids)
    last = read_last(sight, groups)
    those = write_in("topic", {row["topic"] for row in last})
    topics = read_topics(sight, those)
    slots = read_slots(sight, groups, [row for row in last if is_of(row, topics)])
    ends, owners = read_log_ends(sight, those, slots), read_owners(sight, groups)
    return [
        (
            group_id,
            History(
                topic,
                number,
                owners.get((group_id, topic, number), Owner()),
                slots.get((group_id, topic, number), ()),
                ends.get((topic, number), ()),
            ),
        )
        for group_id, topic in sorted({(key[0], key[1]) for key in slots})
        for number in range(topics[topic].partitions)
    ]
