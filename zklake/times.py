"""Times and durations as people read them. No clock."""

from __future__ import annotations

from datetime import UTC, datetime

# What commands and pages read as a moment (delta_tables/asking/moments.py), for whoever asks.
MOMENT_FORMS = (
    "ISO 8601 (2026-11-16T03:12:00Z; UTC unless it has a time zone), a time of day (16:07: the "
    "last one), a time ago (-15m, -1h30m, -2d) or now"
)


def write_time(at: datetime) -> str:
    """2026-11-16T03:12:00.250Z, without a fraction where it is none."""
    precision = "milliseconds" if at.microsecond else "seconds"
    return at.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def write_duration(seconds: float | None) -> str:
    """1.4 s, 3 min 20 s, 2 h 5 min, 4 d 3 h: two units at most."""
    if seconds is None:
        return ""
    sign = "−" if seconds < 0 else ""
    rest = abs(seconds)
    if rest < 1:
        return f"{sign}{rest * 1000:.0f} ms"
    if rest < 10:
        return f"{sign}{rest:.1f} s".replace(".0 s", " s")
    parts: list[str] = []
    left = round(rest)
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return sign + " ".join(part for part in parts[:2] if part)
