from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from delta_tables.asking.lakes import find_lakes
from delta_tables.asking.moments import (
    doubt_moments,
    find_doubts,
    find_interval_table,
    find_moments,
    format_supposed,
    parse_moment,
    write_query,
)
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import read_rows
from tests.delta_tables.small_lake import Rows, write_lake
from zklake.errors import QueryError

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "wanted", "is_supposed"),
    [
        ("now", "2026-11-16T12:00:00", False),
        ("-15m", "2026-11-16T11:45:00", False),
        ("-1d2h30s", "2026-11-15T09:59:30", False),
        ("2026-11-16T03:12Z", "2026-11-16T03:12:00", False),
        ("2026-11-16T03:12:00.25+01:00", "2026-11-16T02:12:00.250", False),
        ("2026-11-16 03:12", "2026-11-16T03:12:00", True),
        ("2026-11-16", "2026-11-16T00:00:00", True),
        ("11:59", "2026-11-16T11:59:00", True),
        ("12:00:00Z", "2026-11-16T12:00:00", False),
        ("12:00:00.5", "2026-11-15T12:00:00.500", True),
    ],
)
def test_moments_are_read(text: str, wanted: str, is_supposed: bool) -> None:
    moment = parse_moment(text, NOW)
    assert moment.at == datetime.fromisoformat(wanted).replace(tzinfo=UTC)
    assert moment.is_zone_supposed is is_supposed


@pytest.mark.parametrize(
    "text", ["", "yesterday", "15m", "-15", "-15x", "-99999999999w", "25:00", "9:00x"]
)
def test_what_is_no_moment_is_refused_with_what_is_wanted(text: str) -> None:
    with pytest.raises(QueryError, match=r"as a time. Use ISO 8601 .*-15m"):
        parse_moment(text, NOW)


def test_what_was_supposed_is_said() -> None:
    said = {
        text: format_supposed(text, parse_moment(text, NOW))
        for text in ("12:01", "2026-11-16", "now")
    }
    assert said == {
        "12:01": "12:01 has no day: taken as 2026-11-15T12:01:00.000Z, the last one (UTC)",
        "2026-11-16": "2026-11-16 has no zone: taken as UTC",
        "now": "",
    }


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("a > TIMESTAMP '2026-11-16T03:12:00Z' OR b <= timestamp'2026-11-16 04:12+01:00'", [NOW]),
        ("a > '2026-11-16T03:12' AND b = '2026-11-17'", [NOW]),
        ("a > TIMESTAMP '2026-11-16' + INTERVAL '3 hours 12 minutes'", [NOW.replace(hour=0)]),
        ("a > now() - INTERVAL '1 day' AND topic = '2026-11-16T topic'", []),
        ("a < TIMESTAMP '9999-12-31T00:00:00Z' OR '0001-01-01 00:00:00+23:00' < a", []),
    ],
)
def test_moments_are_found_in_sql(sql: str, found: list[datetime]) -> None:
    asked = [at.replace(hour=3, minute=12) if at == NOW else at for at in found]
    assert find_moments(sql) == asked


def test_only_tables_of_states_can_be_asked() -> None:
    assert find_interval_table("Topics").name == "topics"
    with pytest.raises(
        QueryError, match=r"'znode_events': records, not states, .*there are log_gaps"
    ):
        find_interval_table("znode_events")
    with pytest.raises(QueryError, match="'partition_health': no table that"):
        find_interval_table("partition_health")


T = "2026-11-16T03:{:02}:00Z"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Events from 03:00 to 03:30, a gap from 03:10 to 03:20, a change at 03:05."""
    path = str(tmp_path_factory.mktemp("lake"))
    base = int(datetime(2026, 11, 16, 3, tzinfo=UTC).timestamp() * 1000)
    events = [{"seq": n, "observed_at_ms": base + n * 60_000} for n in (0, 30)]
    gap = {"reason": "session_lost", "valid_from_at": T.format(10), "valid_to_at": T.format(20)}
    states = [
        {"leader": 1, "valid_from_at": T.format(1), "valid_to_at": T.format(5)},
        {"leader": 2, "valid_from_at": T.format(5), "valid_to_at": T.format(5)},
        {"leader": 3, "valid_from_at": T.format(5)},
    ]
    rows: dict[str, Rows] = {"znode_events": events, "log_gaps": [gap], "partition_state": states}
    write_lake(path, "kafka", rows, [TABLE_BY_NAME[name] for name in rows])
    return path


@pytest.mark.parametrize(("minute", "leaders"), [(0, []), (1, [1]), (4, [1]), (5, [3]), (40, [3])])
def test_a_row_holds_from_its_start_until_before_its_end(
    lake: str, minute: int, leaders: list[int]
) -> None:
    at = datetime.fromisoformat(T.format(minute))
    sql = write_query(TABLE_BY_NAME["partition_state"], at, every_column=False)
    assert [row["leader"] for row in read_rows(lake, "kafka", sql)] == leaders
    narrowed = write_query(
        TABLE_BY_NAME["partition_state"], at, "leader = 9 -- none", every_column=True
    )
    assert read_rows(lake, "kafka", narrowed) == []


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (T.format(2), []),
        (T.format(10), ["lies in a gap (session_lost, 2026-11-16T03:10:00.000Z to"]),
        (T.format(20), []),
        (T.format(31), ["past the watermark: the lake has data up to 2026-11-16T03:30:00.000Z"]),
        ("2026-11-16T02:59:59Z", ["before the first event, of 2026-11-16T03:00:00.000Z"]),
    ],
)
def test_what_the_lake_cannot_know_is_said(lake: str, at: str, said: list[str]) -> None:
    doubts = list(find_doubts(lake, "kafka", datetime.fromisoformat(at)))
    assert len(doubts) == len(said)
    assert all(words in doubt for words, doubt in zip(said, doubts, strict=True))


def test_the_doubts_about_several_moments_are_told_apart(lake: str) -> None:
    moments = [datetime.fromisoformat(T.format(minute)) for minute in (2, 12, 31, 15, 32)]
    doubts = [(doubt.at, doubt.says[:13]) for doubt in doubt_moments(lake, "kafka", moments)]
    past, gap = "it is past th", "it lies in a "
    asked = (moments[2], past), (moments[4], past), (moments[1], gap), (moments[3], gap)
    assert doubts == list(asked)
    assert list(doubt_moments(lake, "kafka", [])) == []


def test_a_lake_without_events_says_so(tmp_path: Path) -> None:
    assert list(find_doubts(str(tmp_path), "kafka", NOW)) == ["the lake has no data yet"]


def test_lakes_are_found_by_name_or_all(lake: str) -> None:
    assert [one.cluster for one in find_lakes(lake, "*")] == ["kafka"]
    assert [one.cluster for one in find_lakes(lake, "kafka, kafka")] == ["kafka"]
    with pytest.raises(QueryError, match=r"/lab holds no tables \(there are: kafka\)"):
        find_lakes(lake, "kafka,lab")
    with pytest.raises(QueryError, match="no cluster has tables there"):
        find_lakes(f"{lake}/kafka/topics", "*")
    assert [one.cluster for one in find_lakes("s3://bucket/lake", "a,b")] == ["a", "b"]
    with pytest.raises(QueryError, match="name the clusters"):
        find_lakes("s3://bucket/lake", "*")
