"""Rows of offset_lag and log_ends as they are kept beyond their last hours: one a minute."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

_MINUTE = 60_000
_KEY = ("coordinator", "group_id", "topic", "partition")
_OF_THE_LAST = (
    "seen_seq",
    "valid_to_seq",
    "valid_to_zxid",
    "valid_to_at",
    "valid_to_at_min",
    "is_clamped",
    "ended_by",
)


def thin(rows: list[Row], until: int) -> list[Row]:
    """Those that ended before then, thinned; the others as they are."""
    kept: list[Row] = []
    by_key = sorted(rows, key=lambda r: (*(str(r.get(n)) for n in _KEY), r["valid_from_seq"]))
    for row in by_key:
        former = kept[-1] if kept else None
        is_over = not row["is_open"] and row["valid_to_at"] < until
        if is_over and former is not None and _goes_on(former, row):
            kept[-1] = _join(former, row)
        else:
            kept.append(dict(row))
    return kept


def _goes_on(former: Row, row: Row) -> bool:
    if any(former.get(name) != row.get(name) for name in _KEY) or former["ended_by"] != "changed":
        return False
    began, ended, now = former["valid_from_at"], former["valid_to_at"], row["valid_to_at"]
    if former["valid_to_seq"] != row["valid_from_seq"] or ended // _MINUTE != now // _MINUTE:
        return False
    # A row that was joined already began within the minute before, like its first part.
    if ended - began >= _MINUTE and former.get("parts", 1) == 1:
        return False
    if began // (5 * _MINUTE) != now // (5 * _MINUTE):
        return False
    return _differs_in_numbers(former, row)


def _differs_in_numbers(former: Row, row: Row) -> bool:
    if "lag" in row:
        names = ("status", "owner", "incarnation", "reason")
        are_known = [one["lag_seconds"] is None for one in (former, row)]
        return are_known[0] == are_known[1] and all(former[n] == row[n] for n in names)
    if any(former[name] != row[name] for name in ("broker_id", "incarnation", "error")):
        return False
    ends = (former["log_end_offset_last"], row["log_end_offset"])
    return None not in ends and ends[0] <= ends[1]


def _join(first: Row, last: Row) -> Row:
    joined = {**first, "parts": first.get("parts", 1) + 1}
    joined |= {name: last[name] for name in last if name in _OF_THE_LAST or name.endswith("_last")}
    if "lag" in first:
        joined["sampled_at"] = last["sampled_at"]
        for name, choose in (("min", min), ("max", max)):
            for column in (f"lag_{name}", f"lag_seconds_{name}"):
                known = [one[column] for one in (first, last) if one[column] is not None]
                joined[column] = choose(known, default=None)
        joined["points"] = first["points"] + last["points"]
        if first["lag_mean"] is not None:
            lasted = [one["valid_to_at"] - one["valid_from_at"] for one in (first, last)]
            area = first["lag_mean"] * lasted[0] + last["lag_mean"] * lasted[1]
            joined["lag_mean"] = area / sum(lasted)
    elif first["log_end_offset"] == last["log_end_offset"]:
        joined["confirmed_at"] = last["confirmed_at"]
    return joined
