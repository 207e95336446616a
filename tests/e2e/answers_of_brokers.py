"""The right answers to questions about brokers, controllers and the log itself."""

from __future__ import annotations

from datetime import timedelta

from tests.e2e.lake_past import LATE_MS
from tests.e2e.told import BROKER_LEFT, Fact, Rows, Told, is_seen_within, is_within, ms, only


def check_brokers_now(told: Told, rows: Rows) -> None:
    alive = told.metadata.brokers
    assert [row["broker_id"] for row in rows] == sorted(alive)
    for row in rows:
        broker = alive[row["broker_id"]]
        assert row["endpoints"] == [f"PLAINTEXT://{broker.host}:{broker.port}"]
        assert is_within(row["since"], told.find("broker_started", broker_id=broker.id)[-1])


def find_lone_reign(told: Told) -> Fact:
    """The controller's, while the one before it lay dead."""
    (kill,) = told.find("broker_killed", story="controller-failover")
    return told.find_after(kill, "controller_is")


def check_brokers_at(told: Told, rows: Rows) -> None:
    reign, (kill,) = find_lone_reign(told), told.find("broker_killed")
    assert [row["broker_id"] for row in rows] == sorted(
        told.metadata.brokers.keys() - {kill["broker_id"]}
    )
    controller = only([row for row in rows if row["is_controller"]])
    assert controller["broker_id"] == reign["controller_id"]
    assert {row["controller_epoch"] for row in rows} == {reign["controller_epoch"]}


def check_broker_absences(told: Told, rows: Rows) -> None:
    found = {row["broker_id"]: row for row in rows}
    assert found.keys() == {fact["broker_id"] for fact in told.find(*BROKER_LEFT)}
    for broker_id, row in found.items():
        ends = told.find(*BROKER_LEFT, broker_id=broker_id)
        starts = [told.find_after(end, "broker_started", broker_id=broker_id) for end in ends]
        least = sum(b["from_ms"] - a["to_ms"] - LATE_MS for a, b in zip(ends, starts, strict=True))
        most = sum(b["to_ms"] - a["from_ms"] for a, b in zip(ends, starts, strict=True))
        assert (row["departures"], row["is_away"]) == (len(ends), False)
        assert least <= row["away_in_all"] / timedelta(milliseconds=1) <= most
        assert is_seen_within(row["last_left_at"], ends[-1])


def check_controller_reigns(told: Told, rows: Rows) -> None:
    reigns = [row for row in rows if row["controller"] != "nobody"]
    epochs = [row["controller_epoch"] for row in reigns]
    assert epochs == sorted(set(epochs))
    for fact in told.find("controller_is"):
        reign = only([row for row in reigns if row["controller_epoch"] == fact["controller_epoch"]])
        assert reign["controller"] == str(fact["controller_id"])
        assert ms(reign["reigned_from"]) <= fact["from_ms"]
        assert reign["reigned_to"] is None or ms(reign["reigned_to"]) >= fact["to_ms"]
    for fact in told.find("controller_deposed"):
        fall = only([row for row in reigns if is_seen_within(row["reigned_to"], fact)])
        assert (fall["controller"], fall["ended_by"]) == (str(fact["controller_id"]), "deleted")


def check_timeline(told: Told, rows: Rows) -> None:
    """Whatever the stories did to brokers, topics and members stands in it."""
    seen = {(row["thing"], row["what"]) for row in rows}
    for fact in told.find(*BROKER_LEFT, story="controller-failover"):
        end = only(
            [
                row
                for row in rows
                if row["thing"] == f"broker {fact['broker_id']}"
                and row["what"] == "session_ended"
                and is_seen_within(row["at"], fact)
            ]
        )
        assert {row["what"] for row in rows if row["at"] == end["at"]} >= {"nobody"}
    for fact in told.find("broker_started", story="controller-failover"):
        assert (f"broker {fact['broker_id']}", "came") in seen
    for fact in told.find("topic_created", story="controller-failover"):
        assert (fact["topic"], f"partitions: {len(fact['replicas'])}") in seen


def check_blind_times(told: Told, rows: Rows) -> None:
    first, *rest = rows
    assert (first["reason"], first["is_open"]) == ("first_start", False)
    assert ms(first["blind_to"]) <= told.find("topic_created")[0]["from_ms"]
    # A watcher that stops may say so, as its last word.
    assert [(row["reason"], row["is_open"]) for row in rest] in ([], [("restart", True)])


def check_unseen_values(told: Told, rows: Rows) -> None:
    found = {(row["kind"], row["fidelity"]): row["changes"] for row in rows}
    # One transaction registers a broker: create with nothing in it, then set.
    assert found["broker", "superseded"] == len(told.find("broker_started"))
    assert {fidelity for _, fidelity in found} <= {"superseded", "redacted"}


def check_last_writes(told: Told, rows: Rows) -> None:
    found = {row["kind"]: row for row in rows}
    *_, started = told.find("broker_started")
    assert found["broker"]["last_path"] == f"/brokers/ids/{started['broker_id']}"
    *_, deleted = told.find("topic_deleted")
    last = found["topic_deletion"]
    assert (last["last_op"], last["last_path"]) == (
        "delete",
        f"/admin/delete_topics/{deleted['topic']}",
    )
    assert is_seen_within(last["last_at"], deleted)


def check_unreadable_values(told: Told, rows: Rows) -> None:
    assert rows == []


def check_cluster_facts(told: Told, rows: Rows) -> None:
    found = {row["name"]: row for row in rows}
    assert found["cluster_id"]["says"] == told.metadata.cluster_id
