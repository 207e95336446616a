"""The checker of queries finds out what is wrong, and lets pass what is right."""

from __future__ import annotations

import pytest

from tests.deploy.exported import list_exported
from tests.deploy.promql import WrongQuery, find_labels

EXPORTED = list_exported()


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("zklake_group_lags", "nobody exports zklake_group_lags"),
        ("zklake_watcher_gaps", "nobody exports zklake_watcher_gaps"),
        ("zklake_stream_batch_seconds", "nobody exports"),
        ('{cluster="prod"}', "nobody exports a series without a name"),
        ('zklake_group_lag{group="readers"}', "has no label group"),
        ('topk(3, zklake_broker_up{broker="1"})', "has no label broker"),
        ("sum by (topic) (zklake_group_lag)", "has no label topic"),
        ("sum without (topic) (zklake_group_lag)", "has no label topic"),
        ("max by (group_id) (sum by (cluster) (zklake_group_lag))", "has no label group_id"),
        ("rates(zklake_group_rebalances_total[5m])", "unknown function"),
        ("rate(zklake_group_rebalances_total)", "expected type"),
        ("histogram_quantile(0.9, rate(zklake_stream_batch_seconds_sum[5m]))", "no label le"),
        ("zklake_group_lag / zklake_brokers", "the sides never match"),
        ("zklake_group_lag unless on (topic) zklake_brokers", "both sides has no label topic"),
        ("zklake_group_lag >", "invalid promql query"),
    ],
)
def test_what_is_wrong_is_found_out(query: str, complaint: str) -> None:
    with pytest.raises(WrongQuery, match=complaint):
        find_labels(query, EXPORTED)


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("zklake_group_lag", {"cluster", "coordinator", "group_id", "job", "instance"}),
        ("topk(3, zklake_brokers)", {"cluster", "job", "instance"}),
        ("sum(zklake_brokers)", set()),
        ("sum by (op) (rate(zklake_watcher_events_total[5m]))", {"op"}),
        ("sum without (job, instance) (zklake_stream_bytes)", {"cluster", "table"}),
        (
            "histogram_quantile(0.9, sum by (le, cluster)"
            " (rate(zklake_watcher_commit_seconds_bucket[5m])))",
            {"cluster"},
        ),
        ("time() - max by (cluster) (zklake_watcher_in_sync) > 60", {"cluster"}),
        (
            "zklake_brokers > 0 unless on (cluster) zklake_controller_id",
            {"cluster", "job", "instance"},
        ),
        ('up{job="x"} == 0', {"job", "instance"}),
    ],
)
def test_the_labels_of_an_answer_are_known(query: str, labels: set[str]) -> None:
    assert find_labels(query, EXPORTED) == labels
