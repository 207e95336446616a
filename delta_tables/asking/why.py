"""Why a group's lag rose: the rises of one group, by the view root_cause, with the rows behind.

Knows neither the command line nor who runs its queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import NamedTuple, Protocol

from delta_tables import reading
from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.explanation import Cause, Explanation, Rise, Row
from delta_tables.asking.lakes import Lake
from delta_tables.asking.moments import find_doubts
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.reading import quote
from zklake.errors import QueryError
from zklake.spelling import did_you_mean

# Around a moment that somebody names, and when nobody named one.
_NEAR, _LATELY = timedelta(hours=1), timedelta(days=1)
# A rise that was under way then, and the pace before it.
_BEFORE = timedelta(hours=2)
# Rows are shown for so many causes; so many of each.
_SHOWN_CAUSES, _SHOWN_ROWS = 3, 5
# Who knows of groups.
_GROUPS = ("consumer_membership", "consumer_offsets")
_RISE = ("rise_from", "rise_to", "lag_before", "lag_after", "added", "peak_lag")
_CAUSE = (
    *("rank", "cause", "entity", "records", "share", "began_at", "ended_at"),
    *("partitions", "source_table", "source_seq"),
)


class RiseFilter(NamedTuple):
    """Which rises are asked about. Without a moment: of the last day, else of the hour before it.

    `rise`: the number of the rise to explain, the first in time being 1; None: the largest.
    """

    group_id: str
    at: datetime | None = None
    # A rise of fewer records is noise, and so is one of less than a tenth of the lag there was.
    least: int = 100
    rise: int | None = None


class Asker(Protocol):
    """Who answers its queries."""

    lakes: Sequence[Lake]

    def ask(
        self, sql: str, names: Sequence[str], only: Mapping[str, str] | None = None
    ) -> list[Row]:
        """Rows of all lakes, by a query over these tables and views."""

    def look_up(self, lake: Lake, sql: str, name: str, only: Mapping[str, str]) -> list[Row]:
        """The few rows of one lake, by a query that is quick; it asks for no others than `only`."""

    def find_doubts(self, lake: Lake, at: datetime) -> list[str]:
        """What makes an answer about that moment less than certain."""


class SandboxAsker:
    """In the sandbox, where whatever takes long is stopped; the few rows are looked up here."""

    def __init__(
        self, lakes: Sequence[Lake], limits: Limits, cancellation: Cancellation | None = None
    ) -> None:
        self.lakes, self._limits, self._cancellation = lakes, limits, cancellation

    def ask(
        self, sql: str, names: Sequence[str], only: Mapping[str, str] | None = None
    ) -> list[Row]:
        """Rows of all lakes."""
        limits, left = self._limits, self._cancellation
        with run_query(self.lakes, sql, limits, only, cancellation=left) as answer:
            return [dict(zip(answer.names, row, strict=True)) for some in answer for row in some]

    def look_up(self, lake: Lake, sql: str, name: str, only: Mapping[str, str]) -> list[Row]:
        """The few rows of one lake; nothing is gained by leaving others out first."""
        opened = reading.open_named([lake], [name])
        return reading.query_rows({name: tables[0] for name, tables in opened.items()}, sql)

    def find_doubts(self, lake: Lake, at: datetime) -> list[str]:
        """About a moment."""
        return list(find_doubts(lake.path, lake.cluster, at))


def explain(
    lakes: Sequence[Lake],
    wanted: RiseFilter,
    limits: Limits,
    cancellation: Cancellation | None = None,
) -> list[Explanation]:
    """The same as `explain_by`, asked in the sandbox."""
    return explain_by(SandboxAsker(lakes, limits, cancellation), wanted)


def explain_by(asker: Asker, wanted: RiseFilter) -> list[Explanation]:
    """Every rise of a group, by coordinator, and the causes of each."""
    until = datetime.now(UTC) if wanted.at is None else wanted.at
    since = until - (_LATELY if wanted.at is None else _NEAR)
    places = _find_group(asker, wanted.group_id, since)
    sql = (
        f"SELECT * FROM root_cause WHERE group_id = {quote(wanted.group_id)} "  # noqa: S608
        f"AND rise_from <= {_write(until)} AND rise_to >= {_write(since)} "
        f"AND added >= {wanted.least} AND added * 10 >= lag_before ORDER BY rise_from, rank"
    )
    rows = asker.ask(sql, ["root_cause"], _find_only(wanted.group_id, since))
    return [_explain_one(asker, place, wanted, (since, until), rows) for place in places]


def _find_only(group_id: str, since: datetime) -> dict[str, str]:
    """By table, the rows that can explain a rise of this group: the view would look at all."""
    recent = _write_recent(since - _BEFORE)
    return {
        **find_lag(group_id, since),
        "consumption_pauses": f"group_id = {quote(group_id)} AND {recent}",
        "partition_state": f"leader = -1 AND {recent}",
    }


def find_lag(group_id: str, since: datetime) -> dict[str, str]:
    """By table, the lag of a group: now, since then, and in a rise that was under way then."""
    recent = _write_recent(since - _BEFORE)
    return {"offset_lag": f"group_id = {quote(group_id)} AND {recent}"}


def _write_recent(since: datetime) -> str:
    """SQL: rows that may have held since then. Files of earlier dates are not read."""
    return f"(is_open OR closed_on >= DATE '{since.astimezone(UTC).date()}')"


def _explain_one(
    asker: Asker,
    found: tuple[Lake, str],
    wanted: RiseFilter,
    span: tuple[datetime, datetime],
    rows: Sequence[Row],
) -> Explanation:
    lake, coordinator = found
    place = (lake.cluster, coordinator)
    rises = _gather([row for row in rows if (row["cluster"], row["coordinator"]) == place])
    chosen = _choose(rises, wanted.rise)
    moments = [wanted.at] if wanted.at else []
    only = _find_only(wanted.group_id, span[0])
    if chosen is not None:
        moments += [chosen.rise_from, chosen.rise_to]
        for cause in chosen.causes:
            _add_rows(asker, lake, cause, wanted.group_id, only)
    doubts = [doubt for one in moments for doubt in asker.find_doubts(lake, one)]
    now = _find_now(asker, (lake, coordinator), wanted.group_id, find_lag(wanted.group_id, span[0]))
    return Explanation(
        *place, wanted.group_id, *span, rises, chosen, now, list(dict.fromkeys(doubts))
    )


def _gather(rows: Sequence[Row]) -> list[Rise]:
    """Rows of root_cause, by rise."""
    rises = []
    for _, group in groupby(rows, key=lambda row: row["rise_from"]):
        first, *others = group
        causes = [_read_cause(row) for row in (first, *others)]
        rises.append(Rise(**{name: first[name] for name in _RISE}, causes=causes))
    return rises


def _read_cause(row: Row) -> Cause:
    return Cause(**{name: row[name] for name in _CAUSE})


def _choose(rises: Sequence[Rise], number: int | None) -> Rise | None:
    if number is None:
        return max(rises, key=lambda rise: (rise.added, rise.rise_from), default=None)
    if not 1 <= number <= len(rises):
        raise QueryError(f"there is no rise {number}: there are {len(rises)} in that time")
    return rises[number - 1]


def _find_now(
    asker: Asker, found: tuple[Lake, str], group_id: str, only: Mapping[str, str]
) -> Row | None:
    lake, coordinator = found
    wanted = f"group_id = {quote(group_id)} AND coordinator = {quote(coordinator)}"
    sql = f"SELECT * FROM group_lag_now WHERE {wanted}"  # noqa: S608
    return next(iter(asker.look_up(lake, sql, "group_lag_now", only)), None)


def _add_rows(
    asker: Asker, lake: Lake, cause: Cause, group_id: str, only: Mapping[str, str]
) -> None:
    """The rows behind a cause, to what is known of it."""
    if cause.rank > _SHOWN_CAUSES or cause.source_table is None or cause.source_seq is None:
        return
    where = f"valid_from_seq = {cause.source_seq}"
    if cause.source_table != "partition_state":
        where += f" AND group_id = {quote(group_id)}"
    sql = f"SELECT * FROM {cause.source_table} WHERE {where} LIMIT {_SHOWN_ROWS}"  # noqa: S608
    cause.rows.extend(asker.look_up(lake, sql, cause.source_table, only))


def _find_group(asker: Asker, group_id: str, since: datetime) -> list[tuple[Lake, str]]:
    """Where there is such a group, on which coordinators; QueryError when nowhere."""
    known: set[tuple[str, str]] = set()
    # One that was there at the time; else whoever was ever of that name.
    for held in (_write_recent(since), "true"):
        sql = _select_groups("cluster, coordinator", f"{held} AND group_id = {quote(group_id)}")
        known = known or {(row["cluster"], row["coordinator"]) for row in asker.ask(sql, _GROUPS)}
    lakes = asker.lakes
    found = [
        (lake, coordinator) for lake in lakes for at, coordinator in known if at == lake.cluster
    ]
    if not found:
        names = {
            row["group_id"] for row in asker.ask(_select_groups("group_id", "is_open"), _GROUPS)
        }
        near = did_you_mean(group_id, sorted(names)) or f"; {len(names)} groups are known"
        raise QueryError(
            f"no group {group_id!r} in {', '.join(one.cluster for one in lakes)}{near}"
        )
    return sorted(found)


def _select_groups(columns: str, where: str) -> str:
    return " UNION ".join(f"SELECT {columns} FROM {name} WHERE {where}" for name in _GROUPS)  # noqa: S608


def _write(at: datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat()}'"
