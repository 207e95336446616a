"""What the numbers are, and what is told where one is not known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from tests.dashboard.metrics.reading import Scraped, make_lake, scrape, tell_lag

ALL = ("zklake", "lag_exporter", "kminion", "kafka_exporter", "burrow")
NO_LAG: dict[str, Any] = {"lag": None, "raw_lag": None, "lag_seconds": None, "status": None}


def test_our_numbers_are_those_of_the_pages(client: TestClient, lake: str) -> None:
    found = scrape(lake)
    overview = client.get("/api/overview").json()
    for row in overview["groups"]["statuses"]:
        assert found.find("zklake_groups", status=row["status"]) == [row["groups"]]
    assert found.find("zklake_brokers") == [len(overview["brokers"]["up"])]
    assert found.find("zklake_controller_id") == [overview["controller"]["controller_id"]]
    assert found.find("zklake_topics") == [overview["partitions"]["topics"]]
    assert found.find("zklake_not_preferred_partitions") == [
        overview["partitions"]["not_preferred"]
    ]
    for group in client.get("/api/groups").json()["rows"]:
        key = {"coordinator": group["coordinator"], "group_id": group["group_id"]}
        assert found.find("zklake_group_lag", **key) == [group["lag"]]
        assert found.find("zklake_group_lag_seconds", **key) == [group["lag_seconds"]]
        assert found.find("zklake_group_status", **key) == [group["severity"]]
        assert found.find("zklake_group_members", **key) == [group["members"]]
        assert found.find("zklake_group_unowned_partitions", **key) == [group["unowned"]]


def test_the_story_in_numbers(lake: str) -> None:
    found = scrape(lake)
    billing = {"coordinator": "zookeeper", "group_id": "billing"}
    assert found.find("zklake_group_rebalances_total", **billing) == [2]
    assert found.find("zklake_group_rebalance_seconds_total", **billing) == [159]
    assert found.find("zklake_group_rebalance_seconds_total", group_id="search") == []
    (age,) = found.find("zklake_group_commit_age_seconds", **billing)
    assert 0 <= age <= 60, "up to the lake's last event, whenever that was"
    assert found.find("zklake_broker_up", broker_id="2") == [1]
    assert found.find("zklake_broker_sessions_total", broker_id="2") == [2]
    assert found.find("zklake_controller_changes_total") == [1]
    assert found.find("zklake_gaps_total") == [2]
    assert found.find("zklake_open_gaps") == [0]
    assert found.find("zklake_quarantined_records_total") == [1]
    assert found.find("zklake_topic_log_end_offset_sum", topic="orders") == [1_155_000]


def test_a_broker_that_left_is_down_for_30_days(tmp_path: Path) -> None:
    def live(broker: int, end: str) -> dict[str, Any]:
        times = {"valid_from_at": "2026-01-01T00:00:00Z", "valid_to_at": end}
        return {"valid_from_seq": 1, "broker_id": broker, "czxid": broker, **times}

    at = {"observed_at_ms": 1_785_542_400_000, "observed_on": "2026-08-01", "seq": 1, "op": "x"}
    lives = [live(1, "2026-07-15T00:00:00Z"), live(2, "2026-06-15T00:00:00Z")]
    found = scrape(make_lake(tmp_path, {"broker_membership": lives, "znode_events": [at]}))
    assert found.find("zklake_broker_up", broker_id="1") == [0]
    assert found.find("zklake_broker_up", broker_id="2") == []
    assert found.find("zklake_brokers") == [0]
    assert found.find("zklake_lake_stale") == [1]


def test_a_group_of_both_coordinators_is_one_group_to_others(tmp_path: Path) -> None:
    rows = [
        tell_lag("dual", committed_offset=90, lag=10, raw_lag=10),
        tell_lag("dual", coordinator="kafka", committed_offset=95, lag=5, raw_lag=5, owner=None),
        tell_lag("dual", partition=1, committed_offset=99, lag=1, raw_lag=1),
        tell_lag("dual", partition=1, coordinator="kafka", **NO_LAG, committed_offset=None),
        # Both know an owner, and neither an offset.
        tell_lag("dual", partition=2, committed_offset=None, **NO_LAG),
        tell_lag("dual", partition=2, coordinator="kafka", committed_offset=None, **NO_LAG),
    ]
    members = [
        {"valid_from_seq": 1, "coordinator": one, "group_id": "dual", "member_id": "m"}
        for one in ("zookeeper", "kafka")
    ]
    lake = make_lake(tmp_path, {"offset_lag": rows, "consumer_membership": members})
    # A series that is there twice would fail already.
    found = scrape(lake, sets=ALL, detail="partitions")
    assert found.find("zklake_group_lag", coordinator="zookeeper") == [11]
    assert found.find("zklake_group_lag", coordinator="kafka") == [5]
    assert found.find("kafka_consumergroup_group_sum_lag", group="dual") == [6]
    assert found.find("kafka_consumergroup_group_offset", partition="0") == [95]
    assert found.find("kafka_consumergroup_lag", partition="0") == [5]
    assert found.find("kafka_consumergroup_lag", partition="2") == [-1]
    assert found.find("kafka_consumergroupzookeeper_lag_zookeeper", partition="0") == [10]
    assert found.find("kminion_kafka_consumer_group_topic_lag", group_id="dual") == [6]
    assigned = "kminion_kafka_consumer_group_topic_assigned_partitions"
    assert found.find(assigned, group_id="dual") == [3], "the owner stays, whoever's offset counts"
    assert found.find("kafka_consumergroup_members", consumergroup="dual") == [2]


def test_each_set_says_unknown_in_its_own_way(tmp_path: Path) -> None:
    rows = [
        tell_lag("g", partition=0),
        tell_lag("g", partition=1, committed_offset=None, reason="no_commit", **NO_LAG),
        tell_lag("g", partition=2, log_end_offset=None, reason="no_log_end", **NO_LAG),
        tell_lag("g", partition=3, raw_lag=-4, lag=0),
        tell_lag("idle", topic="other", committed_offset=None, **NO_LAG),
    ]
    found = scrape(make_lake(tmp_path, {"offset_lag": rows}), sets=ALL, detail="partitions")
    assert _list(found, "zklake_partition_lag", group_id="g") == [10, None, None, 0]
    assert _list(found, "kminion_kafka_consumer_group_topic_partition_lag", group_id="g") == [
        10,
        None,
        None,
        0,
    ]
    lags = _list(found, "kafka_consumergroup_group_lag", group="g")
    assert [str(lag) for lag in lags] == ["10.0", "nan", "nan", "0.0"]
    assert _list(found, "kafka_consumergroup_lag", consumergroup="g") == [10, -1, None, -4]
    assert _list(found, "kafka_consumergroup_current_offset", consumergroup="g") == [90, -1, 90, 90]
    assert found.find("kafka_consumergroup_group_sum_lag", group="g") == [10], "NaN is left out"
    assert found.find("zklake_group_lag", group_id="idle") == []
    assert math.isnan(found.find("kafka_consumergroup_group_max_lag", group="idle")[0])
    assert found.find("kafka_consumergroup_lag", consumergroup="idle") == []


def test_kafka_exporter_tells_every_partition_of_a_topic_that_is_read(tmp_path: Path) -> None:
    """By default it asks for all partitions whose log end it knows, and says -1 of the others."""
    ends = [_tell_end("orders", p, 100) for p in range(3)] + [_tell_end("orders", 3, None)]
    ends += [_tell_end("other", 0, 5)]
    rows = [tell_lag("g", partition=0), tell_lag("g", partition=2, raw_lag=-4, lag=0)]
    rows.append(tell_lag("idle", topic="other", committed_offset=None, **NO_LAG))
    found = scrape(make_lake(tmp_path, {"offset_lag": rows, "log_ends": ends}), sets=ALL)
    assert _list(found, "kafka_consumergroup_lag", consumergroup="g") == [10, -1, -4, None]
    offsets = _list(found, "kafka_consumergroup_current_offset", consumergroup="g")
    assert offsets == [90, -1, 90, None]
    of = {"consumergroup": "g", "topic": "orders"}
    assert found.find("kafka_consumergroup_current_offset_sum", **of) == [179], "-1 is added up"
    assert found.find("kafka_consumergroup_lag_sum", **of) == [6], "and here it is not"
    for name in ("lag", "current_offset", "lag_sum", "current_offset_sum"):
        assert found.find(f"kafka_consumergroup_{name}", consumergroup="idle") == []
    assert found.find("kminion_kafka_consumer_group_topic_offset_sum") == [180]
    lags = _list(found, "kafka_consumergroup_group_lag", group="g")
    assert lags == [10, None, 0, None], "only kafka_exporter does so"


def _tell_end(topic: str, partition: int, end: int | None) -> dict[str, Any]:
    return {"valid_from_seq": 1, "topic": topic, "partition": partition, "log_end_offset": end}


def _list(found: Scraped, name: str, **labels: str) -> list[float | None]:
    of_partition = "partition_id" if name.startswith("kminion") else "partition"
    values = [found.find(name, **labels, **{of_partition: str(p)}) for p in range(4)]
    return [one[0] if one else None for one in values]


def test_commits_are_counted_as_zookeeper_counts_them(tmp_path: Path) -> None:
    def commit(group: str, partition: int, version: int | None, **columns: Any) -> dict[str, Any]:
        key = {"valid_from_seq": 1, "coordinator": "zookeeper", "group_id": group, "topic": "t"}
        return {**key, "partition": partition, "znode_version": version, **columns}

    past = {"valid_to_at": "2026-01-01T00:00:00Z"}
    commits = [commit("g", 0, 6), commit("g", 1, 0), commit("g", 0, 5, **past)]
    commits.append(commit("new", 0, None, coordinator="kafka"))
    rows = {"offset_lag": [tell_lag("g"), tell_lag("new")], "consumer_offsets": commits}
    found = scrape(make_lake(tmp_path, rows), "/metrics/kminion")
    name = "kminion_kafka_consumer_group_offset_commits_total"
    assert found.find(name, group_id="g") == [8], "also those that nobody saw"
    assert found.find(name, group_id="new") == [], "Kafka counts none"
    assert scrape(str(tmp_path), "/metrics/kminion", top=1).find(name) == [8]


def test_without_samples_offsets_and_owners_are_told(tmp_path: Path) -> None:
    group = {"valid_from_seq": 1, "coordinator": "zookeeper", "group_id": "g"}
    key = {**group, "topic": "t"}
    old = {**key, "partition": 0, "broker_id": 4, "committed_offset": 77}
    rows: dict[str, list[dict[str, Any]]] = {
        "consumer_offsets": [{**key, "partition": 0, "committed_offset": 90}, old],
        "ownership_history": [{**key, "partition": 1, "owner": "m-0", "owner_member_id": "m"}],
        "consumer_membership": [{**group, "member_id": "m"}],
        "partition_state": [{"valid_from_seq": 1, "topic": "t", "partition": p} for p in range(3)],
    }
    found = scrape(make_lake(tmp_path, rows), sets=ALL, detail="partitions")
    assert found.find("zklake_group_partitions", group_id="g") == [2]
    assert found.find("zklake_group_unowned_partitions", group_id="g") == [1]
    assert found.find("zklake_groups", status="unknown") == [1]
    assert "zklake_group_lag" not in found.names
    assert found.find("kafka_consumergroup_group_offset", partition="0") == [90]
    assert math.isnan(found.find("kafka_consumergroup_group_lag", partition="0")[0])
    assert _list(found, "kafka_consumergroup_current_offset") == [90, -1, -1, None]
    assert "kminion_kafka_consumer_group_topic_lag" not in found.names
    assert "burrow_kafka_consumer_status" not in found.names


def test_a_lake_that_nobody_has_written_has_next_to_nothing(tmp_path: Path) -> None:
    found = scrape(str(tmp_path / "nothing"), sets=ALL)
    assert found.names == {
        "zklake_lake_stale",
        "zklake_metrics_left_out",
        "kminion_exporter_up",
        "kminion_kafka_cluster_info",
        "kafka_consumergroup_poll_time_ms",
    }
    assert found.find("kminion_exporter_up") == [0]


def test_owners_are_named_if_that_is_wanted(lake: str) -> None:
    name, of = "kafka_consumergroup_group_lag", {"group": "billing", "partition": "0"}
    found = scrape(lake, "/metrics/lag_exporter", member_labels=True)
    owner = {"member_host": "web-b", "consumer_id": "billing_web-b", "client_id": "unknown"}
    assert len(found.find(name, **of, **owner)) == 1
    found = scrape(lake, "/metrics/lag_exporter")
    nobody = dict.fromkeys(owner, "unknown")
    assert len(found.find(name, **of, **nobody)) == 1


def test_burrow_judges_by_its_own_rules(lake: str, client: TestClient) -> None:
    found = scrape(lake, "/metrics/burrow")
    answer = client.get("/v3/kafka/shop/consumer/billing/lag").json()["status"]
    codes = ("NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND")
    of = {"cluster": "shop", "consumer_group": "billing"}
    assert found.find("burrow_kafka_consumer_lag_total", **of) == [answer["totallag"]]
    assert found.find("burrow_kafka_consumer_status", **of) == [codes.index(answer["status"])]
    assert answer["partitions"]
    for one in answer["partitions"]:
        place = {**of, "topic": one["topic"], "partition": str(one["partition"])}
        lag, status = "burrow_kafka_consumer_partition_lag", "burrow_kafka_topic_partition_status"
        assert found.find(lag, **place) == [one["current_lag"]]
        told = [codes.index(one["status"])] if one["complete"] == 1 else []
        assert found.find(status, **place) == told
        offset = [one["end"]["offset"]] if one["complete"] == 1 else []
        assert found.find("burrow_kafka_consumer_current_offset", **place) == offset
