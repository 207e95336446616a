"""consumer_offsets and cluster_state of the plain fold: own columns, the rules of all tables."""

from __future__ import annotations

import json

from tests.reference.fold.script import Script
from tests.reference.fold.test_values import OPEN

OFFSETS = "/consumers/g/offsets/t"


def test_offsets_go_up_and_down_and_belong_to_partitions_of_brokers_too() -> None:
    log = Script().say("create", "offset", f"{OFFSETS}/0", data="7", czxid=1, ephemeral_owner=0)
    log.say("set", "offset", f"{OFFSETS}/0", data="5", version=1)
    log.say("set", "offset", f"{OFFSETS}/0", data="x", version=4).say(
        "create", "offset", f"{OFFSETS}/7-0", data="-1"
    )
    log.say("create", "offset", f"{OFFSETS}/2147483648", data="1")
    columns = ("partition", "broker_id", "committed_offset", "ended_by", "unseen_versions")
    assert log.rows("consumer_offsets", *columns) == [
        (0, None, 7, "changed", 0),
        (0, None, 5, "unreadable", 0),
        (0, None, None, None, 2),
        (0, 7, -1, None, 0),
    ]
    assert "session" not in log.rows("consumer_offsets")[0]


def test_each_znode_has_columns_of_its_own() -> None:
    log = Script().say("create", "cluster_id", "/cluster/id", data='{"version":"1","id":"x"}')
    levels = '{"a":{"max_version_level":3},"b":{"min_version_level":1}}'
    log.say("create", "feature", "/feature", data=f'{{"version":1,"status":1,"features":{levels}}}')
    block = '{"version":1,"broker":2,"block_start":"3000","block_end":"3999"}'
    log.say("create", "producer_id_block", "/latest_producer_id_block", data="")
    log.say("set", "producer_id_block", "/latest_producer_id_block", data=block)
    log.say("create", "broker_seqid", "/brokers/seqid").say(
        "set", "broker_seqid", "/brokers/seqid", data="1", version=1
    )
    columns = (
        "path",
        "cluster_id",
        "features",
        "block_start",
        "block_end",
        "is_known",
        "decode_error",
    )
    assert log.rows("cluster_state", *columns) == [
        ("/brokers/seqid", None, None, None, None, False, None),
        ("/brokers/seqid", None, None, None, None, False, "malformed"),
        ("/cluster/id", "x", None, None, None, True, None),
        ("/feature", None, {"a": 3, "b": None}, None, None, True, None),
        ("/latest_producer_id_block", None, None, None, None, False, None),
        ("/latest_producer_id_block", None, None, 3000, 3999, True, None),
    ]


def test_of_rights_and_tokens_only_the_hash_shows_a_change() -> None:
    path = "/kafka-acl-extended/prefixed/Group/pay-"
    log = Script().say("create", "prefixed_acl", path, fidelity="redacted", data_hash="h1", czxid=4)
    log.say("set", "prefixed_acl", path, fidelity="redacted", data_hash="h2")
    assert log.rows("cluster_state", "data_hash", "ended_by") == [("h1", "changed"), ("h2", None)]
    assert log.rows("cluster_state")[1] == {
        "cluster": "c",
        "path": path,
        "name": "prefixed_acl",
        "cluster_id": None,
        "block_broker_id": None,
        "block_start": None,
        "block_end": None,
        "feature_status": None,
        "features": None,
        "kraft_controller_id": None,
        "kraft_controller_epoch": None,
        "kraft_metadata_offset": None,
        "kraft_metadata_epoch": None,
        "resource_type": "Group",
        "resource": "pay-",
        "pattern_type": "PREFIXED",
        "data_hash": "h2",
        "czxid": None,
        "znode_version": None,
        "fidelity": "redacted",
        "is_known": False,
        "decode_error": None,
        "unseen_versions": 0,
        "seen_seq": 2,
        "valid_from_seq": 2,
        "valid_from_zxid": None,
        "valid_from_at": 2000,
        **OPEN,
    }


def test_of_a_migration_that_goes_on_a_row_a_minute_is_kept() -> None:
    def tell(offset: int, epoch: int = 2) -> str:
        says = {"kraft_controller_id": 3000, "kraft_controller_epoch": epoch}
        return json.dumps(
            {"version": 0, **says, "kraft_metadata_offset": offset, "kraft_metadata_epoch": 1}
        )

    log = Script().say("create", "migration", "/migration", data=tell(-1), czxid=9, ctime=60_000)
    writes = (
        (-1, 2, 61),
        (5, 2, 62),
        (6, 2, 63),
        (7, 2, 119),
        (8, 2, 120),
        (9, 2, 121),
        (9, 3, 122),
    )
    for version, (offset, epoch, second) in enumerate(writes, 1):
        written = {"version": version, "mtime": second * 1000, "czxid": 9}
        log.say("set", "migration", "/migration", data=tell(offset, epoch), **written)
    columns = ("kraft_metadata_offset", "kraft_controller_epoch", "unseen_versions", "ended_by")
    assert log.rows("cluster_state", *columns) == [
        (-1, 2, 0, "changed"),
        (-1, 2, 0, "changed"),
        (5, 2, 0, "changed"),
        (8, 2, 2, "changed"),
        (9, 3, 1, None),
    ]
