"""Small lines for tables: lag of groups and arriving records of topics over a range, as SVG."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from delta_tables.live.span import Span
from delta_tables.live.tables import Row, Tables
from delta_tables.reading import quote

POINTS = 30
_WIDTH, _HEIGHT = 120, 22
_LAGS = """
SELECT coordinator, group_id, topic, partition, CAST({bucket} AS BIGINT) AS bucket,
  max(coalesce(lag_max, lag)) AS most, last_value(coalesce(lag_last, lag) ORDER BY valid_from_seq)
    AS last,
  bool_or(is_open) AS is_open, max(valid_to_at) AS to_at
FROM offset_lag
WHERE group_id IN ({names}) AND {overlap}
GROUP BY coordinator, group_id, topic, partition, bucket
"""
_ENDS = """
SELECT topic, partition, incarnation, CAST({bucket} AS BIGINT) AS bucket,
  max(coalesce(log_end_offset_last, log_end_offset)) AS last_end,
  min(log_end_offset) AS first_end
FROM log_ends
WHERE topic IN ({names}) AND {overlap} AND log_end_offset IS NOT NULL
GROUP BY topic, partition, incarnation, bucket
"""
# By who leads each partition now: what was led before is not separated.
_LED = """
WITH ends AS (
  SELECT topic, partition, incarnation, CAST({bucket} AS BIGINT) AS bucket,
    max(coalesce(log_end_offset_last, log_end_offset)) AS last_end
  FROM log_ends
  WHERE {overlap} AND log_end_offset IS NOT NULL
  GROUP BY topic, partition, incarnation, bucket
), steps AS (
  SELECT topic, partition, bucket, last_end - lag(last_end) OVER (
      PARTITION BY topic, partition, incarnation ORDER BY bucket) AS records
  FROM ends
)
SELECT state.leader AS broker_id, steps.bucket, sum(greatest(0, steps.records)) AS records
FROM steps
JOIN (SELECT topic, partition, leader FROM partition_state WHERE is_open AND leader >= 0) AS state
  ON state.topic = steps.topic AND state.partition = steps.partition
WHERE steps.records IS NOT NULL
GROUP BY state.leader, steps.bucket
"""
Line = list[float | None]


def load_lag_lines(tables: Tables, span: Span, names: Sequence[str]) -> dict[tuple[str, str], Line]:
    """By coordinator and group: the lag of all its partitions, at most, of each part of a range."""
    rows = _ask(tables, span, _LAGS, "offset_lag", names)
    parts: dict[tuple[Any, ...], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        key = (row["coordinator"], row["group_id"], row["topic"], row["partition"])
        parts[key][row["bucket"]] = row
    lines: dict[tuple[str, str], Line] = {}
    for (coordinator, group, *_), said in parts.items():
        held = _hold(said, span)
        former = lines.get((coordinator, group))
        lines[coordinator, group] = held if former is None else _add(former, held)
    return lines


def _hold(said: dict[int, Row], span: Span) -> Line:
    """A row holds until it ends; an open one until now."""
    values: Line = []
    last: Row | None = None
    for place in range(POINTS):
        if place in said:
            last = said[place]
            values.append(last["most"])
            continue
        start = span.start.timestamp() + place * span.seconds / POINTS
        holds = last is not None and (
            last["is_open"] or (last["to_at"] is not None and last["to_at"].timestamp() > start)
        )
        values.append(last["last"] if last is not None and holds else None)
    return values


def _add(one: Line, other: Line) -> Line:
    return [a if b is None else b if a is None else a + b for a, b in zip(one, other, strict=True)]


def load_produced(tables: Tables, span: Span, names: Sequence[str]) -> dict[str, Line]:
    """By topic: records per second that arrived in each part of a range."""
    parts: dict[tuple[Any, ...], dict[int, Row]] = defaultdict(dict)
    for row in _ask(tables, span, _ENDS, "log_ends", names):
        parts[row["topic"], row["partition"], row["incarnation"]][row["bucket"]] = row
    lines: dict[str, Line] = {}
    for (topic, *_), said in parts.items():
        line = lines.setdefault(topic, [None] * POINTS)
        width = span.seconds / POINTS
        end: int | None = None
        for place in range(POINTS):
            if (known := said.get(place)) is not None:
                before = known["first_end"] if end is None else end
                end = known["last_end"]
                line[place] = (line[place] or 0) + max(0, end - before) / width
            elif end is not None:
                line[place] = line[place] or 0
    return {topic: _cut_last(line, span) for topic, line in lines.items()}


def load_led(tables: Tables, span: Span) -> dict[int, Line]:
    """By broker: records per second that came for the partitions that it leads now."""
    lines: dict[int, Line] = {}
    sql = _write(_LED, span)
    for row in tables.query(sql, "log_ends", "partition_state"):
        line = lines.setdefault(row["broker_id"], [None] * POINTS)
        line[row["bucket"]] = row["records"] * POINTS / max(span.seconds, 1)
    for line in lines.values():
        known = next((place for place, value in enumerate(line) if value is not None), 0)
        line[known:] = [value or 0 for value in line[known:]]
    return {broker: _cut_last(line, span) for broker, line in lines.items()}


def _cut_last(line: Line, span: Span) -> Line:
    """Of a range that ends now the last part is not over: its rate would seem to fall."""
    return [*line[:-1], None] if span.last else line


def _ask(tables: Tables, span: Span, sql: str, table: str, names: Sequence[str]) -> list[Row]:
    return tables.query(_write(sql, span, names), table) if names else []


def _write(sql: str, span: Span, names: Sequence[str] = ()) -> str:
    # To the minute: the answer may be kept until the next one.
    first, width = span.start.timestamp() // 60 * 60, max(span.seconds, 1) / POINTS
    place = f"floor((date_part('epoch', valid_from_at) - {first}) / {width})"
    return sql.format(
        bucket=f"least({POINTS - 1}, greatest(0, {place}))",
        names=", ".join(quote(name) for name in names),
        overlap=span.write_overlap(),
    )


def find_rate(line: Line | None) -> float | None:
    """What the last tenth of a line comes to; the last part alone may have just begun."""
    known = [value for value in (line or ())[-4:] if value is not None]
    return sum(known) / len(known) if known else None


def draw_line(line: Line | None, title: str) -> Markup:
    """As high as its own highest point; nothing where nothing is known."""
    known = [value for value in line or () if value is not None]
    if not line or not known:
        return Markup("")
    most = max(known) or 1
    step = _WIDTH / (len(line) - 1)
    runs: list[list[str]] = [[]]
    for place, value in enumerate(line):
        if value is None:
            runs.append([])
        else:
            runs[-1].append(f"{place * step:.1f},{_HEIGHT - 1 - (_HEIGHT - 3) * value / most:.1f}")
    # One point alone would not be seen.
    runs = [run if len(run) != 1 else [run[0], _move(run[0], step)] for run in runs if run]
    drawn = Markup("").join(Markup('<polyline points="{}"/>').format(" ".join(run)) for run in runs)
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
        'aria-label="{}"><title>{}</title>{}</svg>'
    ).format(_WIDTH, _HEIGHT, title, title, drawn)


def _move(point: str, step: float) -> str:
    x, _, y = point.partition(",")
    return f"{max(0.0, float(x) - step / 2):.1f},{y}"


def describe_rate(line: Sequence[float | None]) -> str:
    """For whoever cannot see it."""
    known = [value for value in line if value is not None]
    return f"at most {max(known):,.1f} records/s" if known else ""
