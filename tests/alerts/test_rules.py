"""Each rule on a small lake: what it finds, and what it passes over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.evaluation import backtest
from alerts.incident import Incident
from tests.alerts.book import CLUSTER, Book
from tests.dashboard.story import HOSTILE_GROUP
from zklake.settings.alert_rules import (
    BrokerDown,
    BrokerFlap,
    ControllerFlap,
    GroupLag,
    GroupStatus,
    OfflinePartition,
    PipelineStale,
    RebalanceStorm,
    Rule,
    TimeLag,
    UnderReplicated,
)

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(str(tmp_path), NOW)


def find(book: Book, rule: Rule, *, days: float = 30) -> list[Incident]:
    evaluation, found = backtest(book.path, CLUSTER, rule, NOW - timedelta(days=days), NOW)
    assert evaluation is not None
    return found


def span(book: Book, one: Incident) -> tuple[float, float | None]:
    """Minutes before now: began, ended."""
    end = one.ended_at
    began = (one.started_at - book.now).total_seconds() / 60
    return began, None if end is None else (end - book.now).total_seconds() / 60


def test_group_status_is_that_of_the_worst_partition(book: Book) -> None:
    m = book.minute
    rows = [
        book.lag("OK", m(-60), m(-50)),
        book.lag("STALLED", m(-50), m(-40)),
        book.lag("OK", m(-40)),
        book.lag("OK", m(-60), m(-42), partition=1),
        book.lag("STOPPED", m(-42), m(-30), partition=1),
        book.lag("WARN", m(-30), partition=1),
        book.lag("STOPPED", m(-20), group="other"),
    ]
    book.tell(NOW, offset_lag=rows)
    billing, other = find(book, GroupStatus())
    assert billing.subject.names == ("zookeeper", "billing")
    assert span(book, billing) == (-50, -30)
    assert billing.evidence["status"] == "STOPPED"
    assert billing.evidence["some"] == ["orders-0", "orders-1"]
    assert other.is_open
    assert [one.subject.names[1] for one in find(book, GroupStatus(groups=("oth*",)))] == ["other"]
    excluded = find(book, GroupStatus(exclude_groups=("oth*",)))
    assert [one.subject.names[1] for one in excluded] == ["billing"]
    assert find(book, GroupStatus(level="WARN"))[0].opened_at == m(-49)
    assert find(book, GroupStatus(for_s=21 * 60)) == []


def test_a_lag_that_nobody_could_tell_is_no_recovery_but_a_topic_that_is_gone_is(
    book: Book,
) -> None:
    m = book.minute
    rows = [
        book.lag("STALLED", m(-60), m(-50)),
        book.lag(None, m(-50), m(-40), reason="LEADER_NOT_AVAILABLE"),
        book.lag("STALLED", m(-40), m(-30)),
        book.lag(None, m(-30), reason="topic_gone"),
        # Unknown from the first: nothing is wrong as far as is known.
        book.lag(None, m(-60), m(-55), group="other", reason="no_log_end"),
        book.lag("STOPPED", m(-55), m(-50), group="other"),
        book.lag(None, m(-50), group="other", reason="no_log_end"),
    ]
    book.tell(NOW, offset_lag=rows)
    billing, other = find(book, GroupStatus())
    assert span(book, billing) == (-60, -30)
    assert span(book, other) == (-55, None)


def test_an_unknown_partition_does_not_keep_the_others_of_its_group_bad(book: Book) -> None:
    m = book.minute
    rows = [
        book.lag(None, m(-60), partition=1, reason="no_log_end"),
        book.lag("STOPPED", m(-50), m(-40)),
        book.lag("OK", m(-40)),
    ]
    book.tell(NOW, offset_lag=rows)
    assert [span(book, one) for one in find(book, GroupStatus())] == [(-50, -40)]


def test_hostile_names_are_only_names(book: Book) -> None:
    name = HOSTILE_GROUP + "\n\x00'; DROP TABLE offset_lag; --"
    book.tell(NOW, offset_lag=[book.lag("STOPPED", book.minute(-9), group=name.replace("\0", ""))])
    (one,) = find(book, GroupStatus())
    assert one.subject.names[1] == name.replace("\0", "")


def led(book: Book, leader: int, start: float, end: float | None = None, **named: Any) -> Any:
    columns = {"topic": "orders", "partition": 0, "isr": [1], "is_known": True, **named}
    over = None if end is None else book.minute(end)
    return book.row(book.minute(start), over, leader=leader, **columns)


def born(book: Book, broker: int, start: float, end: float | None = None, **named: Any) -> Any:
    over = None if end is None else book.minute(end)
    by = {"ended_by": "session_ended"} if end is not None else {}
    return book.row(book.minute(start), over, broker_id=broker, is_known=True, **{**by, **named})


def test_offline_partition_has_no_leader_or_one_that_is_away(book: Book) -> None:
    book.tell(
        NOW,
        partition_state=[
            led(book, 1, -600, -50),
            led(book, -1, -50, -40),
            led(book, 1, -40),
            led(book, 2, -600, partition=1),
            # Being deleted.
            led(book, -1, -30, -20, topic="old"),
            led(book, 1, -600, topic="quiet"),
        ],
        broker_membership=[born(book, 1, -600), born(book, 2, -600, -45), born(book, 2, -35)],
        admin_operations=[
            book.row(book.minute(-31), book.minute(-20), operation="topic_deletion", topic="old")
        ],
    )
    (one,) = find(book, OfflinePartition())
    assert span(book, one) == (-50, -35)
    assert one.subject.kind == "cluster"
    assert one.evidence["some"] == ["orders-0", "orders-1"]
    apart = find(book, OfflinePartition(by="partition"))
    assert [(i.subject.text, span(book, i)) for i in apart] == [
        ("partition orders-0", (-50, -40)),
        ("partition orders-1", (-45, -35)),
    ]
    assert find(book, OfflinePartition(exclude_topics=("ord*",))) == []
    assert find(book, OfflinePartition(for_s=901)) == []


def test_a_leader_that_leaves_twice_makes_two_incidents_of_one_row(book: Book) -> None:
    lives = [born(book, 1, -600, -50), born(book, 1, -40, -30), born(book, 1, -20)]
    book.tell(NOW, partition_state=[led(book, 1, -600)], broker_membership=lives)
    first, second = find(book, OfflinePartition())
    assert (span(book, first), span(book, second)) == ((-50, -40), (-30, -20))
    assert first.id != second.id


def test_broker_down_until_it_is_back_or_forgotten(book: Book) -> None:
    lives = [
        born(book, 1, -600, -50),
        born(book, 1, -40),
        born(book, 2, -600, -30),
        born(book, 3, -600, -300),
        # Registered again under another address: no absence.
        born(book, 4, -600, -20, ended_by="changed"),
        born(book, 4, -20),
        born(book, 5, -600, -10, ended_by="migrated"),
    ]
    book.tell(NOW, broker_membership=lives)
    found = find(book, BrokerDown(forget_s=3 * 3600))
    assert [(one.subject.text, span(book, one)) for one in found] == [
        ("broker 3", (-300, -120)),
        ("broker 1", (-50, -40)),
        ("broker 2", (-30, None)),
    ]
    assert find(book, BrokerDown(for_s=1801, forget_s=3 * 3600), days=0.1) == []


def test_controller_flap_counts_changes_not_rows(book: Book) -> None:
    def reign(broker: int | None, epoch: int, start: float, end: float | None) -> Any:
        over = None if end is None else book.minute(end)
        columns = {"controller_id": broker, "controller_epoch": epoch, "is_known": True}
        return book.row(book.minute(start), over, **columns)

    rows = [
        reign(1, 1, -600, -50),
        reign(None, 1, -50, -49),
        reign(2, 2, -49, -48),
        reign(1, 3, -48, -47),
        reign(2, 4, -47, None),
    ]
    book.tell(NOW, controller=rows)
    (one,) = find(book, ControllerFlap())
    assert span(book, one) == (-47, -39)
    assert one.evidence["controller_id"] == 2
    assert find(book, ControllerFlap(changes=4)) == []
    assert find(book, ControllerFlap(within_s=119)) == []


def test_rebalance_storm_is_of_one_group(book: Book) -> None:
    def rebalance(group: str, start: float) -> Any:
        named = {"coordinator": "zookeeper", "group_id": group, "trigger": "member_joined"}
        over = book.minute(start + 0.1)
        return book.row(book.minute(start), over, **named, outcome="settled")

    rows = [rebalance("a", -60 + n) for n in range(5)] + [rebalance("b", -60 + n) for n in range(4)]
    book.tell(NOW, rebalances=rows)
    (one,) = find(book, RebalanceStorm())
    assert one.subject.names == ("zookeeper", "a")
    assert span(book, one) == (-56, -50)
    assert len(find(book, RebalanceStorm(rebalances=4))) == 2
    assert find(book, RebalanceStorm(within_s=239)) == []


def test_pipeline_stale_knows_when_the_watcher_and_when_the_stream_was_away(book: Book) -> None:
    m = book.minute
    for minute in (-60, -59, -50, -49):  # the watcher was away for nine minutes
        book.beat(m(minute))
    for minute in (-48, -47, -46):  # the stream was: it folds them ten minutes later
        book.beat(m(minute), folded_at=m(-38))
    for minute in range(-38, 0):
        book.beat(m(minute))
    first, second = find(book, PipelineStale())
    assert span(book, first) == (-56.5, -50)
    assert span(book, second) == (-46.5, -38)
    assert second.evidence == {"last_event_at": "2026-11-16T11:11:00Z"}


def test_a_lake_that_is_silent_for_days_is_stale_still(book: Book) -> None:
    book.beat(book.minute(-5 * 1440))
    (one,) = find(book, PipelineStale(), days=30)
    assert one.is_open
    evaluation, _ = backtest(book.path, CLUSTER, PipelineStale(), NOW - timedelta(minutes=1), NOW)
    assert evaluation is not None
    assert [again.id for again in evaluation.incidents] == [one.id]


def test_a_short_look_finds_what_a_long_one_does(book: Book) -> None:
    rows = [book.lag("STOPPED", book.minute(-3))]
    book.tell(NOW, offset_lag=rows)
    assert find(book, GroupStatus(), days=30) == find(book, GroupStatus(), days=0.01)


def test_group_lag_is_that_of_all_partitions(book: Book) -> None:
    m = book.minute
    rows = [
        book.lag("OK", m(-60), m(-50)) | {"lag": 400},
        book.lag("OK", m(-60), m(-40), partition=1) | {"lag": 500},
        book.lag("OK", m(-50), m(-40)) | {"lag": 600},
        book.lag("OK", m(-40), partition=1) | {"lag": 10},
        book.lag("OK", m(-40)) | {"lag": 10},
        book.lag("OK", m(-30), group="other") | {"lag": 2000},
    ]
    book.tell(NOW, offset_lag=rows)
    billing, other = find(book, GroupLag(records=1000))
    assert (billing.subject.names[1], span(book, billing)) == ("billing", (-50, -40))
    assert billing.evidence["lag"] == 1100
    assert (other.subject.names[1], span(book, other), other.is_open) == (
        "other",
        (-30, None),
        True,
    )
    assert find(book, GroupLag(records=1000, for_s=660, exclude_groups=("other",))) == []


def test_group_lag_begins_the_same_when_rows_of_a_minute_became_one(book: Book) -> None:
    m = book.minute
    fine = [
        book.lag("OK", m(-30), m(-29.5), seq=10) | {"lag": 5},
        book.lag("OK", m(-29.5), m(-29), seq=20) | {"lag": 5000},
        book.lag("OK", m(-29), m(-10), seq=30) | {"lag": 5000},
    ]
    book.tell(NOW, offset_lag=fine)
    (before,) = find(book, GroupLag(records=1000))
    coarse = [
        book.lag("OK", m(-30), m(-29), seq=10) | {"lag": 5, "lag_max": 5000},
        book.lag("OK", m(-29), m(-10), seq=30) | {"lag": 5000},
    ]
    book.tell(NOW, offset_lag=coarse)
    (after,) = find(book, GroupLag(records=1000))
    assert before.id == after.id


def test_time_lag_is_that_of_the_partition_that_is_farthest_behind(book: Book) -> None:
    m = book.minute
    rows = [
        book.lag("OK", m(-60), m(-50)) | {"lag_seconds": 800.0},
        book.lag("OK", m(-50), m(-40)) | {"lag_seconds": 900.0, "lag_seconds_max": 1200.0},
        book.lag("OK", m(-45), m(-35), partition=1) | {"lag_seconds": 950.0},
        book.lag("OK", m(-35), partition=1) | {"lag_seconds": 3.0},
    ]
    book.tell(NOW, offset_lag=rows)
    (one,) = find(book, TimeLag())
    assert span(book, one) == (-50, -35)
    assert one.evidence["most_lag_seconds_of_a_partition"] == 1200.0
    assert one.evidence["some"] == ["orders-0", "orders-1"]


def test_under_replicated_says_who_is_missing(book: Book) -> None:
    m = book.minute
    topic: dict[str, Any] = {
        "topic": "orders",
        "partition_count": 2,
        "replicas": {0: [1, 2], 1: [2, 1]},
    }
    state: dict[str, Any] = {"topic": "orders", "czxid": 7, "leader": 1}
    rows = [
        book.row(m(-90), m(-60), **state, partition=0, isr=[1, 2]),
        book.row(m(-60), m(-50), **state, partition=0, isr=[1], seq=2000, valid_to_seq=2010),
        book.row(m(-50), **state, partition=0, isr=[1, 2], seq=2010),
        book.row(m(-30), **state, partition=1, isr=[1], seq=2020),
    ]
    rows[0] |= {"valid_to_seq": 2000}
    book.tell(NOW, topics=[book.row(m(-99), **topic, seq=1)], partition_state=rows)
    past, lasting = find(book, UnderReplicated())
    assert (span(book, past), past.evidence["missing"]) == ((-60, -50), [2])
    assert (span(book, lasting), lasting.is_open) == ((-30, None), True)
    assert lasting.evidence["some"] == ["orders-1"]
    assert [one.subject.text for one in find(book, UnderReplicated(by="partition"))] == [
        "partition orders-0",
        "partition orders-1",
    ]
    assert find(book, UnderReplicated(exclude_topics=("ord*",))) == []


def test_broker_flap_counts_departures_of_one_broker(book: Book) -> None:
    m = book.minute
    lives = [
        book.row(m(start), m(end), broker_id=2, czxid=n, ended_by="session_ended", host="a")
        for n, (start, end) in enumerate([(-90, -50), (-49, -40), (-39, -30), (-29, -20)])
    ]
    lives.append(book.row(m(-90), m(-45), broker_id=3, czxid=9, ended_by="deleted"))
    book.tell(NOW, broker_membership=lives)
    (one,) = find(book, BrokerFlap())
    assert one.subject.text == "broker 2"
    assert one.started_at == m(-30)
    assert find(book, BrokerFlap(departures=5)) == []
