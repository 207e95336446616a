"""What the consumer groups of the aged cluster keep in ZooKeeper."""

from __future__ import annotations

from bench.aged_lake.thing import SESSION, Places, time_sql
from bench.aged_lake.world import World
from delta_tables.tables.consumer_membership import CONSUMER_MEMBERSHIP
from delta_tables.tables.consumer_offsets import CONSUMER_OFFSETS
from delta_tables.tables.ownership_history import OWNERSHIP_HISTORY


def name_member(world: World, group: str, number: str) -> str:
    """SQL: a member's id, made as the old consumer makes it."""
    return f"concat('group-', {group}, '_app-', {number}, '-{world.start_ms}-0000abcd')"


def add_members(places: Places, world: World) -> None:
    """The groups' members."""
    size = world.size
    group, number = f"k / {size.members}", f"k % {size.members}"
    topic = f"concat('topic-', ({group}) % {size.topics})"
    places.add(
        "consumer",
        CONSUMER_MEMBERSHIP,
        size.groups * size.members,
        path=f"concat('/consumers/group-', {group}, '/ids/', {name_member(world, group, number)})",
        data=(
            f"""concat('{{"version":1,"subscription":{{"', {topic}, '":1}},"pattern":"static","""
            f""""timestamp":"{world.start_ms}"}}')"""
        ),
        session=f"{SESSION} + 1000 + k",
        columns={
            "coordinator": "'zookeeper'",
            "group_id": f"concat('group-', {group})",
            "member_id": name_member(world, group, number),
            "pattern": "'static'",
            "subscription": f"MAP {{{topic}: 1}}",
            "host": f"concat('app-', {number})",
            "registered_at": time_sql(str(world.start_ms)),
            "registration_version": "1",
        },
    )


def place_partition(world: World) -> dict[str, str]:
    """SQL: of what belongs to a group and a partition."""
    size = world.size
    group = f"k / {size.partitions}"
    return {
        "coordinator": "'zookeeper'",
        "group_id": f"concat('group-', {group})",
        "topic": f"concat('topic-', ({group}) % {size.topics})",
        "partition": f"k % {size.partitions}",
    }


def add_owners(places: Places, world: World) -> None:
    """The groups' owners."""
    size, place = world.size, place_partition(world)
    group, number = f"k / {size.partitions}", f"(k + r / 2) % {size.members}"
    member = name_member(world, group, number)
    places.add(
        "owner",
        OWNERSHIP_HISTORY,
        size.groups * size.partitions,
        lots=(350, 600),
        is_claimed=True,
        path=(
            f"concat('/consumers/', {place['group_id']}, '/owners/', {place['topic']}, '/', "
            f"{place['partition']})"
        ),
        data=f"concat({member}, '-0')",
        session=f"{SESSION} + 1000 + ({group}) * {size.members} + {number}",
        columns={
            **place,
            "owner": f"concat({member}, '-0')",
            "owner_member_id": member,
            "owner_stream": "0",
        },
    )


def add_offsets(places: Places, world: World) -> None:
    """The groups' offsets."""
    size, place = world.size, place_partition(world)
    places.add(
        "offset",
        CONSUMER_OFFSETS,
        size.groups * size.partitions,
        lots=(600, 1000),
        path=(
            f"concat('/consumers/', {place['group_id']}, '/offsets/', {place['topic']}, '/', "
            f"{place['partition']})"
        ),
        data="concat(1000 + r * 37)",
        columns={**place, "committed_offset": "1000 + r * 37"},
    )
