from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zklake.events.kinds import KIND_BY_NAME, KINDS
from zklake.events.paths import Match, classify, classify_long

SEQUENCE = {"sequence": "0000000007"}
G = {"group_id": "g_1-a"}
GT = {**G, "topic": "orders"}

# A real path for every row of the catalogue.
CATALOGUE: dict[str, tuple[str, dict[str, str]]] = {
    "/": ("root", {}),
    "/cluster": ("cluster_dir", {}),
    "/cluster/id": ("cluster_id", {}),
    "/latest_producer_id_block": ("producer_id_block", {}),
    "/feature": ("feature", {}),
    "/migration": ("migration", {}),
    "/brokers": ("brokers_dir", {}),
    "/brokers/ids": ("broker_ids_dir", {}),
    "/brokers/ids/1001": ("broker", {"broker_id": "1001"}),
    "/brokers/seqid": ("broker_seqid", {}),
    "/brokers/topics": ("topics_dir", {}),
    "/brokers/topics/__consumer_offsets": ("topic", {"topic": "__consumer_offsets"}),
    "/brokers/topics/partitions": ("topic", {"topic": "partitions"}),
    "/brokers/topics/orders/3": ("topic_broker", {"topic": "orders", "broker_id": "3"}),
    "/brokers/topics/orders/partitions": ("partitions_dir", {"topic": "orders"}),
    "/brokers/topics/orders/partitions/3": (
        "partition_dir",
        {"topic": "orders", "partition": "3"},
    ),
    "/brokers/topics/orders/partitions/3/state": (
        "partition_state",
        {"topic": "orders", "partition": "3"},
    ),
    "/controller": ("controller", {}),
    "/controller_epoch": ("controller_epoch", {}),
    "/admin": ("admin_dir", {}),
    "/admin/reassign_partitions": ("reassignment", {}),
    "/admin/preferred_replica_election": ("preferred_election", {}),
    "/admin/delete_topics": ("delete_topics_dir", {}),
    "/admin/delete_topics/orders": ("topic_deletion", {"topic": "orders"}),
    "/config": ("config_dir", {}),
    "/config/topics": ("topic_configs_dir", {}),
    "/config/topics/orders": ("topic_config", {"topic": "orders"}),
    "/config/clients": ("client_configs_dir", {}),
    "/config/clients/<default>": ("client_config", {"client_id": "<default>"}),
    "/config/users": ("user_configs_dir", {}),
    "/config/users/al%2Fice": ("user_config", {"user": "al/ice"}),
    "/config/users/al%2Fice/clients": ("user_clients_dir", {"user": "al/ice"}),
    "/config/users/a%20%C3%A4/clients/c%2A": (
        "user_client_config",
        {"user": "a ä", "client_id": "c*"},
    ),
    "/config/brokers": ("broker_configs_dir", {}),
    "/config/brokers/<default>": ("broker_config", {"broker": "<default>"}),
    "/config/ips": ("ip_configs_dir", {}),
    "/config/ips/%3A%3A1": ("ip_config", {"ip": "::1"}),
    "/config/changes": ("config_changes_dir", {}),
    "/config/changes/config_change_0000000007": ("config_change", SEQUENCE),
    "/isr_change_notification": ("isr_changes_dir", {}),
    "/isr_change_notification/isr_change_0000000007": ("isr_change", SEQUENCE),
    "/log_dir_event_notification": ("log_dir_events_dir", {}),
    "/log_dir_event_notification/log_dir_event_0000000007": ("log_dir_event", SEQUENCE),
    "/consumers": ("consumers_dir", {}),
    "/consumers/g_1-a": ("consumer_group_dir", G),
    "/consumers/g_1-a/ids": ("consumer_ids_dir", G),
    "/consumers/g_1-a/ids/g_1-a_vm-1794793318729-6a094f91": (
        "consumer",
        {**G, "member_id": "g_1-a_vm-1794793318729-6a094f91"},
    ),
    "/consumers/g_1-a/owners": ("owners_dir", G),
    "/consumers/g_1-a/owners/orders": ("owners_topic_dir", GT),
    "/consumers/g_1-a/owners/orders/3": ("owner", {**GT, "partition": "3"}),
    "/consumers/g_1-a/owners/orders/5-3": ("owner", {**GT, "broker_id": "5", "partition": "3"}),
    "/consumers/g_1-a/offsets": ("offsets_dir", G),
    "/consumers/g_1-a/offsets/orders": ("offsets_topic_dir", GT),
    "/consumers/g_1-a/offsets/orders/3": ("offset", {**GT, "partition": "3"}),
    "/consumers/g_1-a/offsets/orders/5-3": ("offset", {**GT, "broker_id": "5", "partition": "3"}),
    "/kafka-acl": ("acls_dir", {}),
    "/kafka-acl/Topic": ("acl_type_dir", {"resource_type": "Topic"}),
    "/kafka-acl/Topic/orders": ("acl", {"resource_type": "Topic", "resource": "orders"}),
    "/kafka-acl-extended": ("extended_acls_dir", {}),
    "/kafka-acl-extended/prefixed": ("prefixed_acls_dir", {}),
    "/kafka-acl-extended/prefixed/Group": ("prefixed_acl_type_dir", {"resource_type": "Group"}),
    "/kafka-acl-extended/prefixed/Group/pay-": (
        "prefixed_acl",
        {"resource_type": "Group", "resource": "pay-"},
    ),
    "/kafka-acl-changes": ("acl_changes_dir", {}),
    "/kafka-acl-changes/acl_changes_0000000007": ("acl_change", SEQUENCE),
    "/kafka-acl-extended-changes": ("extended_acl_changes_dir", {}),
    "/kafka-acl-extended-changes/acl_changes_0000000007": ("extended_acl_change", SEQUENCE),
    "/delegation_token": ("delegation_token_dir", {}),
    "/delegation_token/tokens": ("tokens_dir", {}),
    "/delegation_token/tokens/pQ": ("delegation_token", {"token_id": "pQ"}),
    "/delegation_token/token_changes": ("token_changes_dir", {}),
    "/delegation_token/token_changes/token_change_0000000007": ("token_change", SEQUENCE),
}

FOREIGN = (
    "",
    "/" * 2,
    "brokers/ids/1",
    "/brokers/",
    "/brokers/ids/",
    "/brokers//ids",
    "/brokers/ids/one",
    "/brokers/ids/٣",
    "/brokers/ids/1/x",
    "/brokers/topics/orders/partitions/x/state",
    "/brokers/topics/orders/partitions/3/leaderAndISR",
    "/consumers/g/offsets/orders/1-2-3",
    "/consumers/g/offsets/orders/abc",
    "/config/changes/other_0000000007",
    "/kafka-acl-extended/literal/Topic/orders",
    "/zookeeper/quota",
    "/hbase/master",
    "/#meta",
)


@pytest.mark.parametrize("path", CATALOGUE)
def test_every_row_of_the_catalogue_is_recognised(path: str) -> None:
    assert classify(path) == Match(*CATALOGUE[path])


def test_the_catalogue_above_covers_every_kind() -> None:
    assert {kind for kind, _ in CATALOGUE.values()} == {kind.name for kind in KINDS}


@pytest.mark.parametrize("path", FOREIGN)
def test_what_kafka_never_wrote_is_unknown(path: str) -> None:
    assert classify(path) == Match("unknown", {})


def test_a_name_that_is_no_utf8_stays_as_it_stands() -> None:
    assert classify("/config/users/%FF").params == {"user": "%FF"}


def test_names_are_stable_and_stand_once() -> None:
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    assert set(KIND_BY_NAME) == {*names, "unknown"}


SEGMENTS = sorted({name for path in CATALOGUE for name in path.split("/")})


@given(st.text())
def test_any_text_has_a_kind(path: str) -> None:
    assert classify(path).kind in KIND_BY_NAME


@given(st.lists(st.sampled_from(SEGMENTS) | st.text(max_size=8), max_size=8))
def test_any_mix_of_known_names_has_a_kind(segments: list[str]) -> None:
    match = classify("/" + "/".join(segments))
    assert match.kind in KIND_BY_NAME
    assert match.kind != "unknown" or not match.params


def test_a_large_cluster_is_classified_in_bounded_memory() -> None:
    for number in range(50_000):
        match = classify(f"/consumers/g{number % 300}/offsets/t{number}/{number % 64}")
        assert match.params["topic"] == f"t{number}"
    assert classify.cache_info().currsize <= 16_384


def test_a_path_of_a_megabyte_is_classified_and_not_remembered() -> None:
    before = classify.cache_info().currsize
    name = "n" * 1_000_000
    assert classify_long(f"/config/topics/{name}") == Match("topic_config", {"topic": name})
    assert classify.cache_info().currsize == before
