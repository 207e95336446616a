"""What the view migration_readiness concludes from hand-made rows: each phase, each verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import open_tables, query_rows
from delta_tables.views import VIEWS
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import Row, iso, state

VIEW = next(view for view in VIEWS if view.name == "migration_readiness")
# The view counts silence and flapping up to now: so many minutes after the lake's beginning.
NOW = 3000.0
Rows = Mapping[str, list[Row]]


def reign(
    controller_id: int | None,
    epoch: int | None,
    begin: float,
    end: float | None = None,
    *,
    kraft: int = -1,
    **columns: Any,
) -> Row:
    known: Row = {"controller_id": controller_id, "controller_epoch": epoch, "is_known": True}
    known["kraft_controller_epoch"] = None if controller_id is None else kraft
    return state(begin, end, "recreated", **(known | columns))


def migration(offset: int | None, epoch: int | None = 5, written: float = NOW, **more: Any) -> Row:
    known: Row = {"path": "/migration", "name": "migration", "is_known": True}
    payload: Row = {"kraft_metadata_offset": offset, "kraft_controller_epoch": epoch}
    return state(written, **(known | payload | more))


def partition(epoch: int | None, number: int = 0, **columns: Any) -> Row:
    known: Row = {"topic": "t", "partition": number, "leader": 1, "isr": [1, 2]}
    return state(1, controller_epoch=epoch, **(known | columns))


def broker(broker_id: int, begin: float = 0, end: float | None = None, **columns: Any) -> Row:
    known: Row = {"broker_id": broker_id, "registration_version": 5, "session": round(begin) + 1}
    return state(begin, end, columns.pop("ended_by", "session_ended"), **(known | columns))


BROKERS = [broker(1), broker(2)]
BEFORE = reign(1, 7, 0, 10)
KRAFT = reign(3000, 8, 10, kraft=5)
TOPICS = [state(0, topic="t", replicas={0: [1, 2], 1: [1, 2]})]


def make_rows(controller: Iterable[Row], **others: list[Row]) -> dict[str, list[Row]]:
    """A healthy cluster of two brokers, but for what is given."""
    rows: dict[str, list[Row]] = {
        "controller": list(controller),
        "broker_membership": BROKERS,
        "topics": TOPICS,
        "partition_state": [partition(5)],
    }
    return {name: given for name, given in (rows | others).items() if given}


def judge(path: Path, rows: Rows) -> dict[str, Row]:
    write_lake(str(path), "c", rows, [TABLE_BY_NAME[name] for name in VIEW.inputs])
    sql = VIEW.sql.replace("now()", f"TIMESTAMP '{iso(NOW)}'") + "ORDER BY number"
    found = query_rows(open_tables(str(path), "c"), sql)
    assert len({row["phase"] for row in found}) == 1
    return {row["check_name"]: row for row in found}


PHASES: dict[str, tuple[list[Row], list[Row], list[Row], str]] = {
    # What is expected: (controller, cluster_state, broker_membership, verdict on the phase).
    "not_begun": ([reign(1, 7, 0)], [], BROKERS, "ok"),
    "preparing": ([reign(1, 7, 0)], [migration(-1, -1)], BROKERS, "ok"),
    "copying": ([BEFORE, reign(3000, 8, NOW, kraft=5)], [migration(-1)], BROKERS, "ok"),
    "dual_write": ([BEFORE, KRAFT], [migration(40)], BROKERS, "ok"),
    "stalled": ([BEFORE, KRAFT], [migration(40, written=NOW - 5)], BROKERS, "blocked"),
    "finalised": (
        [BEFORE, KRAFT],
        [migration(40, written=NOW - 5)],
        [broker(1, 0, 20, ended_by="migrated")],
        "ok",
    ),
    "rolling_back": (
        [BEFORE, reign(3000, 8, 10, 20, kraft=5), reign(None, 8, 20)],
        [migration(40, written=19)],
        BROKERS,
        "blocked",
    ),
    "rolled_back_leftover": (
        [BEFORE, reign(3000, 8, 10, 20, kraft=5), reign(1, 9, 20)],
        [migration(40, written=19)],
        BROKERS,
        "warning",
    ),
    "rolled_back": (
        [BEFORE, reign(3000, 8, 10, 20, kraft=5), reign(None, 8, 20, 21), reign(1, 9, 21)],
        [migration(40, written=19) | state(19, 22, "deleted")],
        BROKERS,
        "ok",
    ),
    "unknown": ([reign(None, None, 0, is_known=False)], [], BROKERS, "unknown"),
}


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_has_its_name(tmp_path: Path, phase: str) -> None:
    controller, states, brokers, verdict = PHASES[phase]
    rows = make_rows(controller, cluster_state=states, broker_membership=brokers)
    checks = judge(tmp_path, rows)
    names = ["phase", "rollback", "leftover", "groups", "brokers", "partitions", "registrations"]
    assert list(checks) == names
    assert (checks["phase"]["phase"], checks["phase"]["verdict"]) == (phase, verdict)
    assert checks["phase"]["detail"].endswith(".")
    held = checks["phase"]["evidence"][0]
    assert (held["source_table"], held["source_seq"]) == (
        "controller",
        controller[-1]["valid_from_seq"],
    )


def test_a_copy_that_lasts_is_a_warning(tmp_path: Path) -> None:
    """Also where somebody deleted /migration under the KRaft controller."""
    checks = judge(tmp_path, make_rows([BEFORE, KRAFT]))
    assert (checks["phase"]["phase"], checks["phase"]["verdict"]) == ("copying", "warning")
    assert "log of the active KRaft controller" in checks["phase"]["action"]


def test_brokers_in_kraft_mode_are_no_silence(tmp_path: Path) -> None:
    gone = [broker(1, 0, 20, ended_by="migrated"), broker(2, 0, 30, ended_by="migrated")]
    rows = make_rows([BEFORE, KRAFT], cluster_state=[migration(40)], broker_membership=gone)
    checks = judge(tmp_path, rows)
    assert checks["phase"]["phase"] == "dual_write"
    assert "no broker still in ZooKeeper mode" in checks["phase"]["detail"]
    assert checks["registrations"]["verdict"] == "ok"
    assert checks["brokers"]["verdict"] == "ok"


# (/controller_epoch, epoch in /controller, in /migration, highest of a partition) -> verdict
EPOCHS = [
    (8, 5, 5, 7, "ok"),
    (8, 5, 5, 8, "blocked"),
    (8, 5, 5, 9, "blocked"),
    (8, 8, 5, 5, "blocked"),
    (8, 7, 7, 5, "ok"),
    (8, 5, 8, 5, "blocked"),
    (8, 5, 7, None, "ok"),
    (10, 100, 100, 10, "blocked"),
    (None, 5, 5, 5, "unknown"),
]


@pytest.mark.parametrize(("epoch", "held", "copied", "decided", "verdict"), EPOCHS)
def test_the_epochs_decide_on_a_rollback(
    tmp_path: Path, epoch: int | None, held: int, copied: int, decided: int | None, verdict: str
) -> None:
    rows = make_rows(
        [BEFORE, reign(3000, epoch, 10, kraft=held)],
        cluster_state=[migration(40, copied)],
        partition_state=[partition(1, 1), partition(decided)],
    )
    check = judge(tmp_path, rows)["rollback"]
    assert check["verdict"] == verdict
    if verdict == "blocked":
        highest = max(held, copied, decided or 0)
        assert f"set /controller_epoch {highest + 1} " in check["action"]
        assert "KAFKA-20488" in check["action"]
    assert [one["source_table"] for one in check["evidence"]] == [
        "controller",
        "cluster_state",
        "partition_state",
    ]


def test_an_epoch_raised_by_hand_counts(tmp_path: Path) -> None:
    """The row keeps the epoch of its reign; what was written later is in the fold's memory."""
    memory = '{"stands":true,"epoch":101,"epoch_zxid":9,"epoch_seen_seq":9}'
    rows = make_rows(
        [BEFORE, reign(3000, 10, 10, kraft=100, fold_state=memory)],
        cluster_state=[migration(40, 100)],
    )
    check = judge(tmp_path, rows)["rollback"]
    assert check["verdict"] == "ok"
    assert "/controller_epoch is 101, above 100" in check["detail"]


def test_in_the_middle_of_a_rollback_the_last_kraft_epoch_still_counts(tmp_path: Path) -> None:
    """Somebody deleted /controller and /migration."""
    rows = make_rows([BEFORE, reign(3000, 8, 10, 20, kraft=9), reign(None, 8, 20)])
    check = judge(tmp_path, rows)["rollback"]
    assert check["verdict"] == "blocked"
    assert "not above 9" in check["detail"]


@pytest.mark.parametrize(("decided", "verdict"), [(9, "ok"), (100, "blocked")])
def test_a_rollback_that_went_wrong_is_seen(tmp_path: Path, decided: int, verdict: str) -> None:
    """A broker is the controller again; its own epoch in a state is normal, a higher one is not."""
    rows = make_rows(
        [BEFORE, reign(3000, 8, 10, 20, kraft=5), reign(1, 9, 20)],
        partition_state=[partition(decided)],
    )
    check = judge(tmp_path, rows)["rollback"]
    assert (check["phase"], check["verdict"]) == ("rolled_back", verdict)
    assert ("refuse its requests" in check["detail"]) == (verdict == "blocked")


def test_what_is_finalised_has_no_way_back(tmp_path: Path) -> None:
    controller, states, brokers, _ = PHASES["finalised"]
    rows = make_rows(controller, cluster_state=states, broker_membership=brokers)
    checks = judge(tmp_path, rows)
    assert checks["rollback"]["verdict"] == "blocked"
    assert "cannot be rolled back" in checks["rollback"]["detail"]


LEFTOVERS = {
    "not_begun": "ok",
    "preparing": "ok",
    "dual_write": "ok",
    "rolling_back": "warning",
    "rolled_back_leftover": "blocked",
    "rolled_back": "ok",
}


@pytest.mark.parametrize(("phase", "verdict"), LEFTOVERS.items())
def test_what_is_left_of_an_earlier_attempt(tmp_path: Path, phase: str, verdict: str) -> None:
    controller, states, _, _ = PHASES[phase]
    check = judge(tmp_path, make_rows(controller, cluster_state=states))["leftover"]
    assert check["verdict"] == verdict
    assert (check["action"] is None) == (verdict == "ok")
    open_seqs = [row["valid_from_seq"] for row in states if "valid_to_at" not in row]
    assert [one["source_seq"] for one in check["evidence"][1:]] == open_seqs


def test_a_migration_node_that_cannot_be_read_blocks(tmp_path: Path) -> None:
    states = [migration(None, None, is_known=False, decode_error="no_data")]
    check = judge(tmp_path, make_rows([reign(1, 7, 0)], cluster_state=states))["leftover"]
    assert (check["verdict"], check["phase"]) == ("blocked", "preparing")
    assert "KAFKA-19480" in check["detail"]


def offset(group: str, at: float, coordinator: str = "zookeeper") -> Row:
    place: Row = {"group_id": group, "topic": "t", "partition": 0, "coordinator": coordinator}
    return state(at, **place, committed_offset=5)


def member(group: str) -> Row:
    return state(2, group_id=group, member_id=f"{group}_a", coordinator="zookeeper")


def test_groups_in_use_block_and_forgotten_ones_warn(tmp_path: Path) -> None:
    rows = make_rows(
        [reign(1, 7, 0)],
        consumer_membership=[member("reading")],
        consumer_offsets=[
            offset("reading", 3),
            offset("forgotten", 4),
            offset("committing", NOW - 5),
            offset("modern", NOW, "kafka"),
        ],
    )
    check = judge(tmp_path / "all", rows)["groups"]
    assert check["verdict"] == "blocked"
    assert check["detail"] == (
        "3 groups keep members or offsets in ZooKeeper, 2 of them in use: "
        "committing, reading, forgotten."
    )
    told = [(one["source_table"], one["source_seq"]) for one in check["evidence"]]
    assert told[1:] == [("consumer_membership", 120), ("consumer_offsets", 240)]
    assert check["evidence"][1]["says"] == "reading: 1 member, last commit 2026-11-16T03:03:00Z"
    rows = make_rows([reign(1, 7, 0)], consumer_offsets=[offset("forgotten", 4)])
    assert judge(tmp_path / "some", rows)["groups"]["verdict"] == "warning"
    rows = make_rows([reign(1, 7, 0)], consumer_offsets=[offset("modern", NOW, "kafka")])
    none = judge(tmp_path / "none", rows)["groups"]
    assert (none["verdict"], none["evidence"], none["action"]) == ("ok", [], None)


def flap(broker_id: int, *ago: float) -> list[Row]:
    """A broker that left so many minutes ago, each time for a minute."""
    starts = [0, *(NOW - minutes + 1 for minutes in ago)]
    ends = [*(NOW - minutes for minutes in ago), None]
    return [broker(broker_id, a, b) for a, b in zip(starts, ends, strict=True)]


def test_brokers_that_flap_or_stay_away_warn(tmp_path: Path) -> None:
    rows = make_rows([reign(1, 7, 0)])
    calm = rows | {"broker_membership": [*flap(1, 70, 30), *flap(2, 2000, 1900, 1800)]}
    assert judge(tmp_path / "calm", calm)["brokers"]["verdict"] == "ok"
    storm = rows | {"broker_membership": [*flap(1, 90, 70, 30), broker(2, 0, NOW - 5)]}
    check = judge(tmp_path / "storm", storm)["brokers"]
    assert check["verdict"] == "warning"
    assert [one["says"] for one in check["evidence"]] == [
        "broker 2 left 1 time in a day and is away",
        "broker 1 left 3 times in a day",
    ]
    assert check["evidence"][0]["source_seq"] == 0


def test_partitions_that_are_short_warn_and_offline_ones_block(tmp_path: Path) -> None:
    short, dead = partition(5, isr=[1]), partition(5, 1, isr=[2], leader=-1)
    rows = make_rows([reign(1, 7, 0)], partition_state=[short])
    check = judge(tmp_path / "short", rows)["partitions"]
    assert (check["verdict"], check["evidence"][0]["says"]) == (
        "warning",
        "t-0 is under-replicated",
    )
    rows = make_rows([reign(1, 7, 0)], partition_state=[short, dead])
    check = judge(tmp_path / "dead", rows)["partitions"]
    assert (check["verdict"], check["detail"]) == (
        "blocked",
        "Offline partitions: 1, under-replicated: 2.",
    )
    assert check["evidence"][0]["says"] == "t-1 is offline"


@pytest.mark.parametrize(
    ("brokers", "verdict", "said"),
    [
        (BROKERS, "unknown", "ZooKeeper does not say more"),
        ([broker(1), broker(2, registration_version=4)], "blocked", "older than Kafka 2.7"),
        ([broker(1001)], "warning", "above 1000"),
        ([broker(1, registration_version=None)], "unknown", "cannot be read"),
        ([], "warning", "No broker is registered."),
    ],
)
def test_what_registrations_show(
    tmp_path: Path, brokers: list[Row], verdict: str, said: str
) -> None:
    check = judge(tmp_path, make_rows([reign(1, 7, 0)], broker_membership=brokers))["registrations"]
    assert check["verdict"] == verdict
    assert said in check["detail"]


def test_while_the_watcher_is_blind_nothing_is_known_to_be_well(tmp_path: Path) -> None:
    gap = state(NOW - 3, gap_id="g", reason="disconnected")
    rows = make_rows([reign(1, 7, 0)], cluster_state=[migration(40)], log_gaps=[gap])
    checks = judge(tmp_path, rows)
    assert {row["verdict"] for row in checks.values()} == {"unknown", "warning", "blocked"}
    assert checks["leftover"]["verdict"] == "blocked"
    assert checks["partitions"]["verdict"] == "unknown"
    assert "The watcher sees nothing since" in checks["partitions"]["detail"]


def test_evidence_is_bounded(tmp_path: Path) -> None:
    offsets = [offset(f"g{number:02}", 4) for number in range(25)]
    check = judge(tmp_path, make_rows([reign(1, 7, 0)], consumer_offsets=offsets))["groups"]
    assert len(check["evidence"]) == 10
    assert check["detail"].endswith("g00, g01, g02, g03, g04 and more.")
