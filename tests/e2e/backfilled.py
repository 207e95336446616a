"""Two lakes of one history, watched and read from ZooKeeper's files: where their rows may differ.

What both saw is equal. What differs is named here, each with its reason; all else is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from datetime import datetime
from typing import Any, NamedTuple

from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.reading import read_rows

Row = dict[str, Any]

_UNREAD = "superseded"

# Made of samples of the brokers, which are in no file of ZooKeeper's.
SAMPLED = ("offset_lag", "log_ends", "consumption_pauses")
# Where one ends and the next begins is told by times between deletes and claims: see _ENDS.
TIMED = ("rebalances",)
# Each of the two has its own: where it was blind, and where it ended.
OWN = ("log_gaps",)
# Numbers of the log, and what a fold keeps for itself.
_PLACES = {"valid_from_seq", "valid_to_seq", "seen_seq", "fold_state"}
# A value that the watcher could not read in time is one that it counts.
_COUNTS = {"unseen_versions"}
# A delete bears no time: the watcher's clock says when it was seen, the file when it was done.
_ENDS = {"valid_to_at", "valid_to_at_min", "valid_to_zxid", "closed_on", "is_clamped"}
_COALESCED = frozenset({"ended_by", "is_open", "valid_from_at", "valid_from_zxid"})
_BY_TABLE = {
    # Whether records waited for who left, only samples tell; and how long ago it had committed.
    "consumer_membership": {"exit", "exit_evidence"},
    # Whether somebody reigned: from the delete on.
    "controller": {"valid_from_at"},
}


class Difference(NamedTuple):
    """A row that only one side has."""

    table: str
    side: str
    row: Row


class Pair:
    """The two lakes, between two moments: both had begun, and neither had ended."""

    def __init__(self, live: str, past: str, cluster: str, span: tuple[datetime, datetime]) -> None:
        self._lakes, self._cluster, self._span = (live, past), cluster, span

    def read(self, name: str) -> tuple[list[Row], list[Row]]:
        """The rows of a table that began in that time, in order."""
        first, last = self._span
        sides = [
            [
                row
                for row in read_rows(lake, self._cluster, f"SELECT * FROM {name}")
                if row["valid_from_at"] is not None and first <= row["valid_from_at"] <= last
            ]
            for lake in self._lakes
        ]
        for rows in sides:
            rows.sort(key=lambda row: int(row["valid_from_seq"]))
        return sides[0], sides[1]

    def list_differences(self, *, coalescing: bool = False) -> list[Difference]:
        """Rows that one side has alone, less those of values that the watcher could not read:
        one that was overwritten at once, and the next says so.

        `coalescing`: of a delete and a create, or of a create and a write, between two looks it saw
        one; how the first ended and when the second began is in the files alone.
        """
        found = list[Difference]()
        for alone, live in self._list_alone(_COUNTS | (_COALESCED if coalescing else set())):
            found += [
                one
                for one in _explain_unread(alone)
                if one.side == "live" or not is_counted(one.row, live)
            ]
        return found

    def list_healed_differences(self) -> list[Difference]:
        """Rows that one side has alone: where no value is missing, all are the same, and none is
        counted as unseen.
        """
        return [one for alone, _ in self._list_alone(set()) for one in alone]

    def _list_alone(self, hidden: Set[str]) -> Iterator[tuple[list[Difference], list[Row]]]:
        """By table: rows that one side has alone, and those of the live side."""
        for table in TABLES:
            if not table.is_interval or table.name in (*SAMPLED, *TIMED, *OWN):
                continue
            live, past = self.read(table.name)
            alone = [
                Difference(table.name, side, row)
                for side, rows, others in (("live", live, past), ("past", past, live))
                for row in _list_alone(table.name, rows, others, hidden)
            ]
            yield alone, live

    def list_late_ends(self) -> list[tuple[str, Row, Row]]:
        """Rows whose end the file has later than the watcher saw it, or in another transaction."""
        found = []
        for name in ("broker_membership", "partition_state", "ownership_history", "topics"):
            live, past = self.read(name)
            ends = {(row["czxid"], row["znode_version"]): row for row in past}
            for row in live:
                other = ends.get((row["czxid"], row["znode_version"]))
                if other is None or row["valid_to_at"] is None or other["valid_to_at"] is None:
                    continue
                # Who could not read the next state lets this one last until the one behind.
                following = {**row, "znode_version": (row["znode_version"] or 0) + 1}
                is_other = (
                    None not in (row["valid_to_zxid"], other["valid_to_zxid"])
                    and row["valid_to_zxid"] != other["valid_to_zxid"]
                    and not is_counted(following, live)
                )
                if is_other or other["valid_to_at"] > row["valid_to_at"]:
                    found.append((name, row, other))
        return found


def is_counted(state: Row, watched: Sequence[Row]) -> bool:
    """Whether the next state that was watched says that this one was written and never read."""
    life, version = state.get("czxid"), state.get("znode_version")
    return version is not None and any(
        row["czxid"] == life
        and row["znode_version"] is not None
        and row["znode_version"] - (row.get("unseen_versions") or 0)
        <= version
        < row["znode_version"]
        for row in watched
    )


def _list_alone(name: str, rows: list[Row], others: list[Row], hidden: Set[str]) -> list[Row]:
    left_out = _PLACES | _ENDS | hidden | _BY_TABLE.get(name, set())
    names = [column for column in TABLE_BY_NAME[name].names if column not in left_out]
    known = {repr([row[name] for name in names]) for row in others}
    return [row for row in rows if repr([row[name] for name in names]) not in known]


def _explain_unread(alone: list[Difference]) -> list[Difference]:
    """Without a state that the watcher saw come and go unread, and the same one in the files.

    Before 3.9 it does not know its czxid either.
    """
    left = list(alone)
    for unread in [one for one in alone if one.side == "live" and one.row["fidelity"] == _UNREAD]:
        same = [one for one in left if one.side == "past" and _name(one) == _name(unread)]
        if same:
            left.remove(unread)
            if unread.table == "config_history" and unread.row["znode_version"] is not None:
                left = _explain_settings(left, unread)
            else:
                left.remove(same[0])
    return left


def _explain_settings(left: list[Difference], unread: Difference) -> list[Difference]:
    """One unread value held several settings: the files have each from that version on, and the
    watcher from the next one that it could read, if it still had the same value.
    """
    states = {
        (state.row["config_key"], state.row["value"])
        for state in left
        if state.side == "past"
        and _name(state) == _name(unread)
        and state.row["znode_version"] == unread.row["znode_version"]
    }

    def is_of_it(one: Difference) -> bool:
        version = one.row["znode_version"]
        follows = version == unread.row["znode_version"] + (one.side == "live")
        is_known = (one.row["config_key"], one.row["value"]) in states
        return _name(one) == _name(unread) and follows and is_known

    return [one for one in left if not is_of_it(one)]


def _name(one: Difference) -> list[Any]:
    """What a row is about; which settings an unread value has, nobody knows."""
    return [one.row[name] for name in TABLE_BY_NAME[one.table].key if name != "config_key"]
