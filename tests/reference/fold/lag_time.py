"""Lag in seconds, how fast it grows, and when records will be lost unread."""

from __future__ import annotations

from tests.reference.fold.log_curve import Point, Row

_YEAR_MS = 365 * 86_400_000


def measure(lag: int | None, committed: int, curve: list[Point]) -> Row:
    """lag_seconds, lag_seconds_error, lag_quality."""
    if lag is None:
        return _tell(None, None, "unknown")
    if lag == 0:
        return _tell(0.0, 0.0, "exact")
    first, last = curve[0], curve[-1]
    if committed < first.end:
        if len(curve) == 1:
            return _tell(None, None, "unknown")
        pace = (last.first_ms - first.first_ms) / (last.end - first.end)
        at = first.first_ms - (first.end - committed) * pace
        return _tell(max(0.0, (last.first_ms - at) / 1000), None, "extrapolated")
    before = [point for point in curve if point.end <= committed][-1]
    after = next(point for point in curve if point.end > committed)
    span = after.first_ms - before.last_ms
    at = before.last_ms + (committed - before.end) / (after.end - before.end) * span
    quality = "exact" if span == 0 else "interpolated"
    return _tell(max(0.0, (last.first_ms - at) / 1000), span / 1000, quality)


def _tell(seconds: float | None, error: float | None, quality: str) -> Row:
    return {
        "lag_seconds": None if seconds is None else round(seconds, 3),
        "lag_seconds_error": error,
        "lag_quality": quality,
    }


def reckon(columns: Row, reference: Row | None, former: Row | None, at: int) -> Row:
    """velocity, catch_up_seconds, retention_share, lost_records, loss_at.

    `reference`: the row that the pace is measured from; `former`: the one that stands.
    """
    lag, start, end = (columns[name] for name in ("lag", "log_start_offset", "log_end_offset"))
    told = dict.fromkeys(
        ("velocity", "catch_up_seconds", "retention_share", "lost_records", "loss_at")
    )
    if lag is None:
        return told
    row: Row = told
    if start is not None:
        row["lost_records"] = max(0, start - columns["committed_offset"])
        row["retention_share"] = None if end <= start else lag / (end - start)
    row |= _compare(columns, reference, former, at)
    if row["velocity"] is not None and row["velocity"] < 0 and lag > 0:
        row["catch_up_seconds"] = lag / -row["velocity"]
    return row


def _compare(columns: Row, reference: Row | None, former: Row | None, at: int) -> Row:
    nothing: Row = {"velocity": None, "loss_at": None}
    if reference is None or former is None or None in (reference["sampled_at"], reference["lag"]):
        return nothing
    if reference["incarnation"] != columns["incarnation"]:
        return nothing
    dt = at - reference["sampled_at"]
    if dt < 1000:
        return {name: former[name] for name in nothing}
    return {
        "velocity": (columns["lag"] - reference["lag"]) / (dt / 1000),
        "loss_at": _find_loss(columns, reference, at, dt),
    }


def _find_loss(columns: Row, reference: Row, at: int, dt: int) -> int | None:
    start, committed = columns["log_start_offset"], columns["committed_offset"]
    if None in (start, reference["log_start_offset"]) or committed < start:
        return None
    nearing = (start - reference["log_start_offset"]) - (committed - reference["committed_offset"])
    if nearing <= 0:
        return None
    left_ms = (committed - start) * dt / nearing
    return at + round(left_ms) if left_ms <= _YEAR_MS else None
