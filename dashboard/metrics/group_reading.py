"""Groups and their partitions as they are now, read from the lake in one question each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection

from dashboard.metrics import group_sql
from dashboard.metrics.groups import Commits, Group, GroupTopic, Key, Owner, Partition, Sums
from delta_tables.live.tables import Row, Tables

LAG_READS = ("offset_lag",)
UNSAMPLED_READS = ("consumer_offsets", "ownership_history")


class GroupReader:
    """Asks for the groups of one lake, with topics of some names only.

    `is_merged`, `is_filled`: as a set of metrics wants it.
    """

    def __init__(
        self,
        tables: Tables,
        is_wanted_topic: Callable[[str], bool],
        *,
        is_merged: bool,
        is_filled: bool,
    ) -> None:
        self._tables, self._is_merged = tables, is_merged
        self._inputs = list_reads(tables)
        source = group_sql.LAG if self._inputs == LAG_READS else group_sql.UNSAMPLED
        topics = self._ask(f"SELECT DISTINCT topic FROM ({source})")  # noqa: S608
        unwanted = [row["topic"] for row in topics if not is_wanted_topic(row["topic"])]
        if unwanted:
            source = f"SELECT * FROM ({source}) WHERE NOT {group_sql.write_in('topic', unwanted)}"  # noqa: S608
        self._source = self._merge(source) if is_merged else source
        if is_filled:
            self._fill()

    def list_groups(self, *, with_topics: bool) -> list[Group]:
        """Every group that any table knows, the one that is farthest behind first."""
        groups: dict[Key, Group] = {}
        for row in self._sum_up("coordinator, group_id"):
            key = row.pop("coordinator"), row.pop("group_id")
            groups[key] = Group(*key, Sums(**row))
        self._add_members(groups)
        self._add_rebalances(groups)
        if with_topics:
            self._add_topics(groups)
        return sorted(groups.values(), key=lambda one: (-(one.sums.lag or 0), one.key[::-1]))

    def list_partitions(
        self, groups: Collection[Group], *, are_all: bool, with_owners: bool
    ) -> list[Partition]:
        """Those of these groups, in their order."""
        sql = group_sql.PARTITIONS.format(source=self._source)
        if not are_all:
            ids = {group.group_id for group in groups}
            sql += f"WHERE {group_sql.write_in('group_id', ids)}"
        rows = self._ask(sql)
        consumed = {_name_topic(row) for row in rows if row["committed_offset"] is not None}
        owners = self._read_owners() if with_owners else {}
        by_group: dict[Key, list[Partition]] = {group.key: [] for group in groups}
        for row in rows:
            mine = by_group.get((row["coordinator"], row["group_id"]))
            if mine is not None:
                owner = owners.get((row["group_id"], row["owner_member_id"]))
                mine.append(Partition(**row, is_consumed=_name_topic(row) in consumed, owner=owner))
        return [
            one
            for partitions in by_group.values()
            for one in sorted(partitions, key=lambda one: (one.topic, one.partition))
        ]

    def list_commits(self, groups: Collection[Group]) -> list[Commits]:
        """Of those of these groups that ZooKeeper keeps, in their order."""
        rows = self._tables.ask(group_sql.COMMITS, "consumer_offsets")
        commits = {row["group_id"]: row["commits"] for row in rows}
        ids = [group.group_id for group in groups]
        return [Commits(one, commits[one]) for one in ids if one in commits]

    def _merge(self, source: str) -> str:
        both = [row["group_id"] for row in self._ask(group_sql.BOTH.format(source=source))]
        is_both = group_sql.write_in("group_id", both) if both else "false"
        return group_sql.MERGED.format(source=source, is_both=is_both)

    def _fill(self) -> None:
        is_sampled = self._inputs == LAG_READS
        table = "log_ends" if is_sampled else "partition_state"
        if self._tables.has(table):
            partitions = group_sql.SAMPLED_PARTITIONS if is_sampled else group_sql.LED_PARTITIONS
            self._source = group_sql.FILLED.format(source=self._source, partitions=partitions)
            self._inputs = (*self._inputs, table)

    def _ask(self, sql: str) -> list[Row]:
        return self._tables.ask(sql, *self._inputs)

    def _sum_up(self, keys: str) -> list[Row]:
        return self._ask(group_sql.SUMS.format(keys=keys, source=self._source))

    def _find(self, groups: dict[Key, Group], row: Row) -> Group:
        key = ("" if self._is_merged else row["coordinator"], row["group_id"])
        return groups.setdefault(key, Group(*key))

    def _add_members(self, groups: dict[Key, Group]) -> None:
        for row in self._tables.query(group_sql.MEMBERS, "consumer_membership"):
            self._find(groups, row).members += row["members"]

    def _add_rebalances(self, groups: dict[Key, Group]) -> None:
        for row in self._tables.query(group_sql.REBALANCES, "rebalances"):
            key = ("" if self._is_merged else row["coordinator"], row["group_id"])
            if group := groups.get(key):  # one that is gone has only its past
                group.rebalances += row["rebalances"]
                group.failed_rebalances += row["failed"]
                group.is_rebalancing |= bool(row["is_rebalancing"])
                if row["seconds"] is not None:
                    group.rebalance_seconds = (group.rebalance_seconds or 0) + row["seconds"]

    def _add_topics(self, groups: dict[Key, Group]) -> None:
        found: dict[Key, list[GroupTopic]] = defaultdict(list)
        for row in self._sum_up("coordinator, group_id, topic"):
            key, topic = (row.pop("coordinator"), row.pop("group_id")), row.pop("topic")
            found[key].append(GroupTopic(key[1], topic, Sums(**row)))
        for key, topics in found.items():
            groups[key].topics = tuple(sorted(topics, key=lambda one: one.topic))

    def _read_owners(self) -> dict[tuple[str, str | None], Owner]:
        rows = self._tables.ask(group_sql.OWNERS, "consumer_membership")
        return {
            (row["group_id"], row["member_id"]): Owner(
                row["member_id"], row["host"], row["client_id"]
            )
            for row in rows
        }


def list_reads(tables: Tables) -> tuple[str, ...]:
    """The tables that know most of groups now."""
    return LAG_READS if tables.query(group_sql.HAS_LAG, "offset_lag") else UNSAMPLED_READS


def _name_topic(row: Row) -> tuple[str, str, str]:
    return row["coordinator"], row["group_id"], row["topic"]
