"""What `zklake status` looks at: the parts of the product, and the lake they write.

A check says what was found and, when that is not well, what to do next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from zklake.doctor.finding import Finding
from zklake.errors import ZklakeError
from zklake.phrases import format_count
from zklake.supervision.readiness import ask_readiness, read_figure, write_url
from zklake.times import write_duration, write_time

if TYPE_CHECKING:
    from delta_tables.asking.stats import LakeStats

# What a part is started with, and the setting that says where it answers.
_STARTS = {
    "watcher": ("zklake watch", "dashboard.watcher_http or watcher.http"),
    "stream": ("zklake stream", "dashboard.stream_http or stream.http"),
    "dashboard": ("zklake dashboard", "dashboard.http"),
    "alerts": ("zklake alerts run", "alerts.http"),
}
# Of the auditor, about rows and events that do not agree.
_VERDICTS = ("unexplained", "phantom")
# A busy part may take its time.
_PATIENCE_S = 5.0
_DAY = timedelta(days=1)
_GAPS = (
    "SELECT reason, path, valid_from_at, valid_to_at, is_open FROM log_gaps "
    "WHERE is_open OR valid_to_at >= TIMESTAMP '{since}' ORDER BY valid_from_at"
)
_QUARANTINED = (
    "SELECT count(*) AS records, max(ingested_at) AS last_at FROM quarantine "
    "WHERE ingested_at >= TIMESTAMP '{since}'"
)
_SAMPLED = "SELECT max(confirmed_at) AS at FROM log_ends_now"


class Deployment(NamedTuple):
    """Where the product is: addresses by part, and the lake."""

    urls: Mapping[str, str]
    lake: str
    cluster: str
    # A lake whose last event is older is stale.
    stale_after_s: float


def choose_urls(listens: Mapping[str, str | None], *, has_tls: bool) -> dict[str, str]:
    """Addresses by part, of those that answer anywhere."""
    return {
        name: write_url(listen, has_tls=has_tls and name == "dashboard")
        for name, listen in listens.items()
        if listen
    }


def check_all(place: Deployment, now: datetime) -> list[Finding]:
    """Every check, parts first."""
    parts = dict(place.urls)
    audit = parts.pop("audit", None)
    found = [*(check_part(name, url) for name, url in parts.items()), *check_lake(place, now)]
    return [*found, check_audit(audit)] if audit else found


def check_part(name: str, url: str) -> Finding:
    """Whether a part is ready."""
    command, setting = _STARTS[name]
    found = ask_readiness(url, _PATIENCE_S)
    if found.is_ready is None:
        fix = f"start it: {command}; if it runs elsewhere, set {setting}"
        return Finding(name, "fail", f"{url} {found.says}", fix)
    if not found.is_ready:
        fix = "wait if it has just started; else see its log and docs/runbooks.md"
        return Finding(name, "fail", f"{url} is not ready: {found.says}", fix)
    return Finding(name, "ok", f"{url} {found.says}")


def check_audit(url: str) -> Finding:
    """Whether the tables contradict ZooKeeper or the log; not everybody runs the auditor."""
    found = ask_readiness(url, _PATIENCE_S)
    if found.is_ready is None:
        return Finding("audit", "warn", f"{url} {found.says}", "start it: zklake audit --follow")
    unexplained, phantom = (read_figure(url, f"zklake_audit_{each}") for each in _VERDICTS)
    if unexplained is None or phantom is None:
        return Finding("audit", "ok", f"{url} {found.says}: no round has ended yet")
    says = f"{url} {found.says}: {unexplained:.0f} unexplained, {phantom:.0f} phantom"
    if unexplained or phantom:
        return Finding("audit", "fail", says, "zklake audit says which; see docs/auditing.md")
    return Finding("audit", "ok", says)


def check_lake(place: Deployment, now: datetime) -> Iterator[Finding]:
    """How fresh the tables are, and what they lack."""
    from delta_tables.asking.stats import measure_lake

    where = f"{place.lake.rstrip('/')}/{place.cluster}"
    try:
        found = measure_lake(place.lake, place.cluster)
        yield _judge_freshness(place, where, found, now)
        if found.watermark_at is not None:
            yield _judge_samples(_ask(place, _SAMPLED), found.watermark_at, place.stale_after_s)
            since = (now - _DAY).isoformat()
            yield _judge_gaps(_ask(place, _GAPS.format(since=since)))
            yield _judge_quarantine(_ask(place, _QUARANTINED.format(since=since)))
    except ZklakeError as error:
        yield Finding("lake", "fail", str(error), "see `zklake lake stats` and docs/runbooks.md")


def _judge_freshness(place: Deployment, where: str, found: LakeStats, now: datetime) -> Finding:
    if found.watermark_at is None:
        fix = "are --lake and --cluster right, and have `zklake watch` and `zklake stream` run?"
        return Finding("lake", "fail", f"{where} has no data", fix)
    age_s = max((now - found.watermark_at).total_seconds(), 0.0)
    says = f"{where}: data up to {write_time(found.watermark_at)}, {write_duration(age_s)} ago"
    last = read_figure(place.urls.get("watcher", ""), "zklake_watcher_committed_seq")
    behind = 0 if last is None else max(int(last) - (found.watermark or 0), 0)
    if behind:
        says += f"; {format_count(behind, 'record')} of the log to be folded"
    if age_s > place.stale_after_s:
        who = "the stream is behind" if behind else "nothing reaches the log or the tables"
        return Finding("lake", "fail", says, f"{who}: see the lines above and docs/runbooks.md")
    return Finding("lake", "ok", says)


def _judge_samples(rows: list[dict[str, Any]], newest: datetime, stale_after_s: float) -> Finding:
    at = rows[0]["at"] if rows else None
    if at is None:
        return Finding("lag", "warn", "no log end was sampled yet", "is watcher.sampling on?")
    # Against the lake, not the clock: one that is behind is behind with everything.
    late_s = (newest - at).total_seconds()
    says = f"log ends sampled up to {write_time(at)}"
    if late_s > stale_after_s:
        fix = "can the watcher reach the watched brokers? (--watched)"
        return Finding("lag", "warn", f"{says}, {write_duration(late_s)} before the rest", fix)
    return Finding("lag", "ok", says)


def _judge_gaps(rows: list[dict[str, Any]]) -> Finding:
    still = [row for row in rows if row["is_open"]]
    if still:
        first = still[0]
        begun = first["valid_from_at"]
        since = f" since {write_time(begun)}" if begun else ""
        below = f" below {first['path']}" if first["path"] else ""
        says = f"changes may pass unseen{since} ({first['reason']}{below})"
        return Finding("history", "fail", says, "the watcher must be in sync again: see its line")
    # What was before the first start is no gap in what we have.
    rows = [row for row in rows if row["valid_from_at"]]
    if not rows:
        return Finding("history", "ok", "no gap in the last 24 h")
    lengths = [(row["valid_to_at"] - row["valid_from_at"]).total_seconds() for row in rows]
    longest = rows[lengths.index(max(lengths))]
    count, in_all = format_count(len(rows), "gap"), write_duration(sum(lengths))
    says = (
        f"{count} in the last 24 h, {in_all} in all; the longest, {write_duration(max(lengths))}, "
        f"from {write_time(longest['valid_from_at'])} ({longest['reason']})"
    )
    return Finding("history", "ok", says)


def _judge_quarantine(rows: list[dict[str, Any]]) -> Finding:
    count = rows[0]["records"] if rows else 0
    if not count:
        return Finding("quarantine", "ok", "no record set aside in the last 24 h")
    says = f"{format_count(count, 'record')} set aside in the last 24 h, the last at "
    fix = 'zklake sql "SELECT kafka_offset, reason FROM quarantine ORDER BY ingested_at DESC"'
    return Finding("quarantine", "warn", says + write_time(rows[0]["last_at"]), fix)


def _ask(place: Deployment, sql: str) -> list[dict[str, Any]]:
    """Rows; none while a table is not there yet."""
    from delta_tables.reading import read_rows
    from zklake.errors import QueryError

    try:
        return read_rows(place.lake, place.cluster, sql)
    except QueryError:
        return []


def read_now() -> datetime:
    """The time, to the millisecond."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
