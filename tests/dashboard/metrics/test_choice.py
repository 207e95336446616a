"""How much is told: detail, names, the bad ones, the first ones, and no more than fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dashboard.metrics.reading import Scraped, make_lake, scrape, tell_lag
from tests.dashboard.story import HOSTILE_GROUP
from zklake.cli.dashboard import choose_options
from zklake.errors import SettingsError
from zklake.settings.load import load_settings


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nine groups, one of them bad, one of them unknown, with one partition each on two topics."""
    rows = [
        tell_lag(f"g{n}", topic=topic, lag=n, raw_lag=n, status="WARN" if n == 3 else "OK")
        for n in range(8)
        for topic in ("orders", "bills")
    ]
    unknown = {"lag": None, "raw_lag": None, "status": None}
    rows.append(tell_lag("g8", **unknown))
    ends = [
        {"valid_from_seq": 1, "topic": topic, "partition": p, "log_end_offset": 10 * p}
        for topic in ("orders", "bills")
        for p in range(3)
    ]
    path = tmp_path_factory.mktemp("small")
    return make_lake(path, {"offset_lag": rows, "log_ends": ends})


def test_our_own_names_stop_at_groups_unless_told_to_go_on(lake: str) -> None:
    coarse, fine = scrape(lake), scrape(lake, detail="partitions")
    new = {name for name in fine.names - coarse.names if not name.startswith("zklake_partition_")}
    assert new == {"zklake_log_end_offset", "zklake_log_start_offset"}
    assert not any("partition" in label for label in _list_labels(coarse))


def _list_labels(found: Scraped) -> set[str]:
    return {label for family in found.families for one in family.samples for label in one.labels}


def test_groups_and_topics_are_chosen_by_name(small: str) -> None:
    found = scrape(small, groups=("g1", "g2*", "x*"), exclude_groups=("g2",), detail="partitions")
    assert found.list("zklake_group_lag", "group_id") == ["g1"]
    assert sum(found.find("zklake_groups")) == 1
    found = scrape(small, exclude_topics=("b*",), detail="partitions")
    assert found.find("zklake_group_lag", group_id="g7") == [7]
    assert set(found.list("zklake_partition_lag", "topic")) == {"orders"}
    assert set(found.list("zklake_log_end_offset", "topic")) == {"orders"}
    assert found.find("zklake_group_partitions", group_id="g7") == [1]
    assert scrape(small, topics=()).names.isdisjoint({"zklake_group_lag"})


def test_the_first_are_those_that_are_farthest_behind(small: str) -> None:
    found = scrape(small, top=3)
    assert found.list("zklake_group_lag", "group_id") == ["g7", "g6", "g5"]
    assert found.find("zklake_groups", status="OK") == [7]
    assert found.find("zklake_metrics_left_out") == [0]
    other = scrape(small, "/metrics/kafka_exporter", top=3)
    assert set(other.list("kafka_consumergroup_lag", "consumergroup")) == {"g7", "g6", "g5"}


def test_the_bad_ones_are_those_that_are_not_known_to_be_ok(small: str, lake: str) -> None:
    found = scrape(small, only_bad=True)
    assert found.list("zklake_group_members", "group_id") == ["g3", "g8"]
    assert found.find("zklake_groups", status="unknown") == [1]
    found = scrape(lake, "/metrics/lag_exporter", only_bad=True, top=1)
    assert found.list("kafka_consumergroup_group_sum_lag", "group") == [HOSTILE_GROUP]


@pytest.mark.parametrize("name", ["zklake", "lag_exporter", "kminion", "kafka_exporter", "burrow"])
def test_what_does_not_fit_is_counted(small: str, name: str) -> None:
    path = f"/metrics/{name}"
    whole = scrape(small, path, detail="partitions")
    cut = scrape(small, path, detail="partitions", most_series=50)
    (left_out,) = cut.find("zklake_metrics_left_out", set=name)
    assert cut.count() <= 50 + 5, "what is told of the moment comes on top"
    # A series that would have no value is counted too: it may get one.
    assert left_out >= whole.count() - cut.count()
    assert (left_out > 0) == (whole.count() > cut.count())


def test_groups_go_before_topics_and_the_farthest_behind_stay(small: str) -> None:
    # Two groups with two topics of three partitions each; then not even the smallest fits.
    found = scrape(small, "/metrics/kafka_exporter", most_series=50)
    kept = found.list("kafka_consumergroup_members", "consumergroup")
    assert kept
    assert set(kept) <= {f"g{n}" for n in range(9)}
    lags = sorted(
        {float(name[1:]) for name in found.list("kafka_consumergroup_lag", "consumergroup")}
    )
    assert lags == [8 - n for n in range(len(lags), 0, -1)]


def test_nothing_fits(small: str) -> None:
    found = scrape(small, most_series=1)
    assert "zklake_group_lag" not in found.names
    assert found.find("zklake_metrics_left_out")[0] > 50


def test_settings_become_options(tmp_path: Path) -> None:
    environ = {
        "ZKLAKE_METRICS__SETS": "kminion,burrow",
        "ZKLAKE_METRICS__TOP": "5",
        "ZKLAKE_METRICS__EXCLUDE_GROUPS": "console-*",
    }
    chosen = choose_options(load_settings(flags={"metrics.detail": "partitions"}, environ=environ))
    assert chosen.metrics.sets == ("kminion", "burrow")
    assert (chosen.metrics.top, chosen.metrics.detail) == (5, "partitions")
    assert chosen.metrics.exclude_groups == ("console-*",)
    assert chosen.metrics.most_series == 50_000
    for wrong in ("kminion,kminion", "jmx", "[]"):
        with pytest.raises(SettingsError, match="sets"):
            load_settings(environ={"ZKLAKE_METRICS__SETS": wrong})
