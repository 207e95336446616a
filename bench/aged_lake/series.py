"""What is known of the aged cluster beside its znodes' states: lag, log ends, rebalances, and the
tables that plain Python folds. Told in rows only: no record of the log speaks of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.aged_lake.groups import name_member, place_partition
from bench.aged_lake.history import select_rows
from bench.aged_lake.thing import SESSION, time_sql
from bench.aged_lake.world import World
from delta_tables.table import Table
from delta_tables.tables.admin_operations import ADMIN_OPERATIONS
from delta_tables.tables.config_history import CONFIG_HISTORY
from delta_tables.tables.controller import CONTROLLER
from delta_tables.tables.log_ends import LOG_ENDS
from delta_tables.tables.log_gaps import LOG_GAPS
from delta_tables.tables.offset_lag import OFFSET_LAG
from delta_tables.tables.rebalances import REBALANCES

# So many partitions, and of groups, are sampled, and so often a day something is new of them.
_SAMPLED = 300
_POINTS = 96
# What the stream must remember of open rows, as far as it is needed.
_LAG_STATE = "concat('{\"progress_ms\":', from_ms, ',\"offset\":', 1000 + r * 37, '}')"
_TERM_STATE = 'concat(\'{"stands":true,"epoch":\', r + 1, \',"is_sealed":true}\')'


@dataclass(frozen=True)
class Series:
    """A table, of so many things; SQL over `k` (which one), `r` (which row), from_ms and to_ms."""

    table: Table
    count: int
    # Rows of a day.
    per_day: int
    columns: Mapping[str, str]
    ended_by: str = "changed"
    # None: each lasts until the next one, and the last one is open.
    lasts_ms: int | None = None

    def count_commits(self, world: World) -> int:
        """In how many commits the last day came: at most one a minute."""
        return min(world.size.commits, 1440, max(2, self.per_day * self.count))

    def select(self, world: World) -> str:
        """SQL: its rows, and when each was written."""
        states, commits = self._select_states(world), self.count_commits(world)
        return select_rows(
            world, self.table, states, self.columns, ended_by=self.ended_by, commits=commits
        )

    def _select_states(self, world: World) -> str:
        size = world.size
        apart = size.day_slots // self.per_day
        points = (
            f"SELECT k, r, r / {self.per_day} AS d, r % {self.per_day} * {apart} "  # noqa: S608
            f"+ k * 7919 % {max(1, apart // 2)} AS i "
            f"FROM (SELECT value AS k FROM generate_series(0, {self.count - 1})) CROSS JOIN "
            f"(SELECT value AS r FROM generate_series(0, {size.days * self.per_day - 1}))"
        )
        begun = (
            f"SELECT k, r, {world.seq_at()} AS from_seq, {world.ms_at()} AS from_ms "  # noqa: S608
            f"FROM ({points})"
        )
        ends = (
            "lead(from_seq) OVER turns AS to_seq, lead(from_ms) OVER turns AS to_ms"
            if self.lasts_ms is None
            else f"from_seq + 1 AS to_seq, from_ms + {self.lasts_ms} AS to_ms"
        )
        ended = (
            f"SELECT *, {ends} FROM ({begun}) "  # noqa: S608
            "WINDOW turns AS (PARTITION BY k ORDER BY r)"
        )
        return (
            "SELECT *, from_seq AS czxid, 0 AS version, "  # noqa: S608
            f"{SESSION} + r % {size.brokers} AS session, {world.day_of('from_seq')} AS from_day, "
            f"{world.day_of(f'coalesce(to_seq, {world.last_seq})')} AS to_day FROM ({ended})"
        )


def list_series(world: World) -> list[Series]:
    """Every table that no znode of the log makes."""
    return [
        _list_terms(world),
        _list_gaps(),
        _list_operations(world),
        _list_configs(world),
        _list_ends(world),
        _list_lag(world),
        _list_rebalances(world),
    ]


def _when_open(state: str) -> str:
    return f"CASE WHEN to_seq IS NULL THEN {state} END"


def _list_terms(world: World) -> Series:
    columns = {
        "controller_id": f"r % {world.size.brokers}",
        "controller_epoch": "r + 1",
        "kraft_controller_epoch": "-1",
        "registered_at": time_sql("from_ms"),
        "fold_state": _when_open(_TERM_STATE),
    }
    return Series(CONTROLLER, 1, 1, columns, ended_by="session_ended")


def _list_gaps() -> Series:
    columns = {
        "gap_id": "concat('gap-', r)",
        "reason": "CASE WHEN r % 5 = 0 THEN 'restart' ELSE 'disconnected' END",
        "coalescing": "false",
        "lives": "r % 3",
    }
    return Series(LOG_GAPS, 1, 2, columns, ended_by="in_sync", lasts_ms=20_000)


def _list_operations(world: World) -> Series:
    moves = "r % 3 < 2"
    brokers = world.size.brokers
    columns = {
        "operation": f"CASE WHEN {moves} THEN 'reassignment' ELSE 'preferred_election' END",
        "topic": "concat('topic-', k)",
        "partition": "0",
        "replicas": f"CASE WHEN {moves} THEN make_array(r % {brokers}, (r + 1) % {brokers}) END",
        "adding_replicas": f"CASE WHEN {moves} THEN make_array(r % {brokers}) END",
        "removing_replicas": f"CASE WHEN {moves} THEN make_array((r + 2) % {brokers}) END",
        "is_inferred": "r % 3 = 1",
    }
    count = min(20, world.size.topics)
    return Series(ADMIN_OPERATIONS, count, 1, columns, ended_by="finished", lasts_ms=9_000)


def _list_configs(world: World) -> Series:
    columns = {
        "entity_type": "'topics'",
        "entity_name": "concat('topic-', k)",
        "config_key": "'retention.ms'",
        "value": "concat(86400000 * (1 + r % 7))",
        "is_redacted": "false",
    }
    return Series(CONFIG_HISTORY, min(20, world.size.topics), 1, columns)


def _count_points(world: World) -> int:
    return min(_POINTS, world.size.beats // 2)


def _list_ends(world: World) -> Series:
    size = world.size
    columns = {
        "topic": f"concat('topic-', k / {size.partitions})",
        "partition": f"k % {size.partitions}",
        "broker_id": f"k % {size.brokers}",
        "log_start_offset": "r * 11",
        "log_end_offset": "2000 + r * 37",
        "sampled_at": time_sql("from_ms"),
        "confirmed_at": time_sql("coalesce(to_ms, from_ms)"),
    }
    count = min(_SAMPLED, size.topics * size.partitions)
    return Series(LOG_ENDS, count, _count_points(world), columns)


def _list_lag(world: World) -> Series:
    # It rises for some hours, and is caught up at once; then it is small.
    lag = "CASE WHEN (r + k) % 48 < 12 THEN (r + k) % 48 * 120 ELSE r % 7 * 3 END"
    owner = name_member(world, f"k / {world.size.partitions}", f"k % {world.size.members}")
    columns = {
        **place_partition(world),
        "owner": f"concat({owner}, '-0')",
        "owner_member_id": owner,
        "committed_offset": "1000 + r * 37",
        "committed_at": time_sql("from_ms"),
        "log_start_offset": "r * 11",
        "log_end_offset": f"1000 + r * 37 + {lag}",
        "sampled_at": time_sql("coalesce(to_ms, from_ms)"),
        "lag": lag,
        "raw_lag": lag,
        "lag_seconds": f"({lag}) / 4.0",
        "lag_seconds_error": "5.0",
        "lag_quality": "'interpolated'",
        "velocity": "CASE WHEN (r + k) % 48 < 12 THEN 0.13 ELSE 0.0 END",
        "retention_share": f"({lag}) / 100000.0",
        "lost_records": "0",
        "status": "CASE WHEN (r + k) % 48 BETWEEN 6 AND 11 THEN 'WARN' ELSE 'OK' END",
        "status_since": time_sql("from_ms"),
        "fold_state": _when_open(_LAG_STATE),
    }
    count = min(_SAMPLED, world.size.groups * world.size.partitions)
    return Series(OFFSET_LAG, count, _count_points(world), columns)


def _list_rebalances(world: World) -> Series:
    size = world.size
    member = name_member(world, "k", f"r % {size.members}")
    trigger = (
        "CASE r % 4 WHEN 0 THEN 'member_joined' WHEN 1 THEN 'session_ended' "
        "WHEN 2 THEN 'member_left' ELSE 'owner_released' END"
    )
    columns = {
        "coordinator": "'zookeeper'",
        "group_id": "concat('group-', k)",
        "trigger": trigger,
        "trigger_member_id": member,
        "triggers": f"make_array({trigger})",
        "members_before": str(size.members),
        "members_after": str(size.members),
        "attempts": "1 + r % 3",
        "conflicts": "r % 2",
        "partitions": str(size.partitions),
        "moved": f"r % {size.partitions}",
        "reacquired": f"{size.partitions} - r % {size.partitions}",
        "left_unowned": "0",
        "unowned_ms": "1500 * (1 + r % 4)",
        "max_unowned_ms": "1500",
        "unowned": f"MAP {{concat('topic-', k % {size.topics}, '-0'): 1500}}",
        "duration_ms": "3000",
        "outcome": "'settled'",
    }
    return Series(REBALANCES, size.groups, 4, columns, ended_by="settled", lasts_ms=3_000)
