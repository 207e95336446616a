"""What is written can be read again, whatever names a hostile client chose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse

from dashboard.metrics.exposition import TEXT, write_metrics
from dashboard.metrics.family import Family, Shape
from dashboard.metrics.sets import SETS
from tests.dashboard.metrics.reading import OPENMETRICS, make_lake, scrape, tell_lag
from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC, UNICODE_GROUP

NAMES = [one.name for one in SETS]
HOSTILE = [
    'quo"te',
    '",partition="7"} 1\nzklake_lies 1\n#',
    "new\nline",
    "\\n",
    "back\\slash\\",
    '\\"',
    "nul\0",
    "carriage\rreturn\ttab",
    "</script>",
    "{{7*7}}%s",
    " # EOF",
    "\u2028\u0085\u202e",
    "naïve 🐘",
]


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
@pytest.mark.parametrize("name", NAMES)
def test_a_parser_accepts_every_set_of_the_story(lake: str, name: str, accept: str) -> None:
    found = scrape(lake, f"/metrics/{name}", accept, detail="partitions")
    assert found.count() > 40
    assert found.find("zklake_metrics_left_out", set=name) == [0]


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_all_sets_are_one_answer(lake: str, accept: str) -> None:
    found = scrape(lake, "/metrics", accept, sets=tuple(NAMES), detail="partitions")
    told = {family.name for one in SETS for family in one.families}
    # Nobody's log began late, and billing's only open rebalances are over.
    assert told - found.names <= {"zklake_group_retention_used", "zklake_part_up"}
    assert found.list("zklake_metrics_left_out", "set") == NAMES
    assert HOSTILE_GROUP in found.list("zklake_group_lag", "group_id")
    assert UNICODE_GROUP in found.list("kafka_consumergroup_lag", "consumergroup")
    assert HOSTILE_TOPIC in found.list("kminion_kafka_topic_info", "topic_name")


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_hostile_names_stay_what_they_are(tmp_path: Path, accept: str) -> None:
    rows = [tell_lag(f"g {name}", topic=f"t {name}") for name in HOSTILE]
    lake = make_lake(tmp_path, {"offset_lag": rows})
    found = scrape(lake, "/metrics", accept, sets=tuple(NAMES), detail="partitions")
    assert sorted(found.list("zklake_partition_lag", "group_id")) == sorted(
        f"g {name}" for name in HOSTILE
    )
    for name in HOSTILE:
        assert found.find("zklake_partition_lag", group_id=f"g {name}", topic=f"t {name}") == [10]
        group = {"group": f"g {name}", "topic": f"t {name}"}
        assert found.find("kafka_consumergroup_group_lag", **group) == [10]
        assert found.find("kafka_consumergroup_lag_sum", consumergroup=f"g {name}") == [10]
        assert found.find("kminion_kafka_consumer_group_topic_lag", group_id=f"g {name}") == [10]
    assert "zklake_lies" not in found.names


def test_what_is_no_text_is_written_out() -> None:
    """A lake cannot hold it; whatever else will be a label may."""
    shape = Shape[str]("topic", ("topic",), lambda one: (one,))
    family: Family[Any] = Family("lone", "A surrogate", shape, lambda one: 1)
    text = write_metrics([family], "c", {"topic": ["a\udc80b"]}, TEXT).decode()
    (metric,) = parse(text)
    assert metric.samples[0].labels == {"topic": "a\\udc80b"}
