"""Looks at a lake that is written meanwhile: one message per incident and event."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from alerts import sending
from alerts.daemon import Daemon, run_once
from alerts.delivery import Delivery
from alerts.journal import Journal
from alerts.present import read_present
from alerts.transport import SendFailed
from delta_tables.live.tables import Tables
from delta_tables.reading import table_path
from tests.alerts.book import CLUSTER, Book
from tests.alerts.receivers import HttpReceiver
from zklake.errors import SettingsError
from zklake.settings.alerts import AlertsSettings

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
RULES = [{"rule": "group_status"}, {"rule": "broker_down", "name": "gone"}]


class Desk:
    """A lake, a journal, a daemon that looks when it is told to."""

    def __init__(self, directory: Path, **notifier: Any) -> None:
        self.book = Book(str(directory / "lake"), NOW)
        self.path = str(directory / "journal")
        webhook = {"by": "webhook", "url": "http://a.example/", **notifier}
        self.set(rules=RULES, notifiers=[webhook])
        self.journal = Journal(self.path, CLUSTER)

    def set(self, **settings: Any) -> None:
        self.settings = AlertsSettings.model_validate({"journal": self.path, **settings})

    def look(self, at: datetime) -> list[tuple[str, str, str]]:
        """Look, as after a restart; returns all messages there are: subject, event, state."""
        Daemon(self.book.path, self.settings, self.journal).look(at)
        sql = (
            "SELECT json_extract(message, '$.incident.subject_text'), event, state "
            "FROM deliveries ORDER BY rowid"
        )
        rows: list[tuple[str, str, str]] = self.journal._ask(sql)
        return rows

    def tell(self, minute: float, *lags: dict[str, Any], **tables: Any) -> list[Any]:
        """The lake as of that minute, and a look at it."""
        at = self.book.minute(minute)
        self.book.tell(at, offset_lag=list(lags), **tables)
        return self.look(at)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.journal.close()


BILLING, OTHER = "group billing (zookeeper)", "group other (zookeeper)"


def test_the_first_look_tells_only_what_is_open(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    past = [lag("STOPPED", m(-900), m(-800), group="past"), lag("STOPPED", m(-30))]
    assert desk.tell(0, *past) == [(BILLING, "open", "waiting")]
    assert desk.tell(1, *past) == [(BILLING, "open", "waiting")]


def test_one_open_and_one_close_however_often_it_looks(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    assert desk.tell(0, lag("OK", m(-60))) == []
    stopped = lag("STOPPED", m(1))
    assert desk.tell(1.5, stopped) == []
    for minute in (2, 2.5, 10):
        assert desk.tell(minute, stopped) == [(BILLING, "open", "waiting")]
    over = [{**stopped, **lag("STOPPED", m(1), m(11), seq=stopped["valid_from_seq"])}]
    assert len(desk.tell(11.5, *over)) == 1
    both = [(BILLING, "open", "waiting"), (BILLING, "close", "waiting")]
    for minute in (12, 13, 60, 1000):
        assert desk.tell(minute, *over) == both


def test_what_came_and_went_while_nobody_looked_is_told_in_order(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    assert desk.tell(0, lag("OK", m(-60))) == []
    rows = [lag("STOPPED", m(5), m(9)), lag("STOPPED", m(20), group="other")]
    assert desk.tell(30, *rows) == [
        (BILLING, "open", "waiting"),
        (OTHER, "open", "waiting"),
        (BILLING, "close", "waiting"),
    ]


def test_what_is_too_old_to_be_told_is_written_down_as_that(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    assert desk.tell(0, lag("OK", m(-60))) == []
    assert desk.tell(3000, lag("STOPPED", m(5), m(9))) == [(BILLING, "open", "given_up")]


def test_one_whose_beginning_the_lake_has_forgotten_is_still_the_same(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    assert desk.tell(0, lag("STOPPED", m(-30))) == [(BILLING, "open", "waiting")]
    later = lag("STOPPED", m(50_000))
    assert desk.tell(50_010, later) == [(BILLING, "open", "given_up")]  # nobody sent it
    assert len(desk.journal.list_open()) == 1


NOT_LED = "LEADER_NOT_AVAILABLE"


def test_a_lag_that_nobody_can_tell_for_long_ends_nothing(desk: Desk) -> None:
    """Longer than a look goes back: the row that was bad is not read any more."""
    m, lag = desk.book.minute, desk.book.lag
    opened, closed = (BILLING, "open", "waiting"), (BILLING, "close", "waiting")
    desk.tell(0, lag("STOPPED", m(-30)))
    past = lag("STOPPED", m(-30), m(1))
    unknown = lag(None, m(1), reason=NOT_LED)
    for minute in (2, 30, 60):
        assert desk.tell(minute, past, unknown) == [opened]
    over = lag(None, m(1), m(70), reason=NOT_LED, seq=unknown["valid_from_seq"])
    fine = lag("OK", m(70))
    assert desk.tell(70.5, past, over, fine) == [opened]
    assert desk.tell(80, past, over, fine) == [opened, closed]
    assert desk.tell(90, past, over, fine) == [opened, closed]
    sql = "SELECT json_extract(message, '$.incident.ended_at') FROM deliveries"
    assert desk.journal._ask(sql)[-1] == ("2026-11-16T13:10:00Z",)


def test_a_partition_that_nobody_could_ever_tell_keeps_nothing_open(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    never = lag(None, m(-900), partition=1, reason=NOT_LED)
    desk.tell(0, never)
    assert desk.tell(3, never, lag("STOPPED", m(1))) == [(BILLING, "open", "waiting")]
    past = lag("STOPPED", m(1), m(4))
    unknown = lag(None, m(4), m(40), reason=NOT_LED)
    for minute in (20, 30):
        assert len(desk.tell(minute, never, past, unknown)) == 1
    found = desk.tell(50, never, past, unknown, lag("OK", m(40)))
    assert [event for _, event, _ in found] == ["open", "close"]


def test_rules_whose_tables_have_no_news_ask_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = desk.book
    book.tell(NOW, offset_lag=[book.lag("OK", book.minute(-30))])
    daemon = Daemon(book.path, desk.settings, desk.journal)
    for _ in range(2):  # the first one goes back by a month
        daemon.look(NOW)
    monkeypatch.setattr(Tables, "ask", lambda *args: pytest.fail("asked again"))
    book.beat(NOW + timedelta(seconds=5))
    daemon.look(NOW + timedelta(seconds=6))
    assert daemon.vitals.obstacle is None


def test_a_table_that_cannot_be_read_stops_only_its_rules(desk: Desk) -> None:
    book = desk.book
    away = [
        book.row(book.minute(-60), book.minute(-30), broker_id=1, ended_by="session_ended"),
    ]
    book.tell(NOW, offset_lag=[book.lag("STOPPED", book.minute(-30))], broker_membership=away)
    for file in Path(table_path(book.path, CLUSTER, "offset_lag")).glob("**/*.parquet"):
        file.write_bytes(b"no parquet")
    daemon = Daemon(book.path, desk.settings, desk.journal)
    daemon.look(NOW)
    assert [one.rule for one in desk.journal.list_open()] == ["gone"]
    assert str(daemon.vitals.obstacle).startswith("the lake cannot be read for group_status: ")


def test_what_is_open_is_listed_also_where_the_lake_says_nothing(
    desk: Desk, tmp_path: Path
) -> None:
    desk.tell(0, desk.book.lag("STOPPED", desk.book.minute(-30)))
    present = read_present(desk.book.path, CLUSTER, desk.settings, NOW, most=10)
    assert ([one.subject.text for one in present.incidents], present.is_blind) == ([BILLING], False)
    nowhere = str(tmp_path / "nowhere")
    present = read_present(nowhere, CLUSTER, desk.settings, NOW, most=10)
    assert ([one.subject.text for one in present.incidents], present.is_blind) == ([BILLING], True)
    assert present.incidents[0].is_open


def test_two_in_a_row_are_two(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    desk.tell(0, lag("OK", m(-60)))
    first = lag("STOPPED", m(1), m(5))
    desk.tell(3, lag("STOPPED", m(1), seq=first["valid_from_seq"]))
    found = desk.tell(12, first, lag("STOPPED", m(8)))
    assert [event for _, event, _ in found] == ["open", "open", "close"]
    sql = "SELECT count(DISTINCT incident_id) FROM deliveries"
    assert desk.journal._ask(sql) == [(2,)]


def test_a_history_that_takes_it_back_closes_it_once(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    desk.tell(0, lag("STOPPED", m(-30)))
    both = [(BILLING, "open", "waiting"), (BILLING, "close", "waiting")]
    for minute in (1, 2):
        assert desk.tell(minute, lag("OK", m(-60))) == both


def test_what_comes_back_while_it_lasts_is_told_again_with_an_id_and_an_end_of_its_own(
    desk: Desk,
) -> None:
    m, lag = desk.book.minute, desk.book.lag
    stopped, fine = lag("STOPPED", m(-30)), lag("OK", m(-60))
    desk.tell(0, stopped)
    desk.tell(1, fine)
    for minute in (2, 3):
        assert len(desk.tell(minute, stopped)) == 3
    desk.tell(4, fine)
    desk.tell(5, stopped)
    over = lag("STOPPED", m(-30), m(6), seq=stopped["valid_from_seq"])
    for minute in (8, 9):
        desk.tell(minute, over)
    told = desk.journal._ask("SELECT incident_id, event FROM deliveries ORDER BY rowid")
    first = told[0][0]
    ids = (first, f"{first}-2", f"{first}-3")
    assert told == [(id_, event) for id_ in ids for event in ("open", "close")]
    ended = "SELECT json_extract(message, '$.incident.ended_at') FROM deliveries"
    assert desk.journal._ask(ended)[-1] == ("2026-11-16T12:06:00Z",)


def test_a_rule_that_comes_back_tells_what_lasts(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    rules, notifiers = desk.settings.rules, desk.settings.notifiers
    stopped, other = lag("STOPPED", m(-30)), lag("STOPPED", m(-20), group="other")
    desk.tell(0, stopped, other)
    desk.set(rules=[{"rule": "broker_down"}], notifiers=notifiers)
    assert len(desk.look(m(1))) == 4
    desk.set(rules=rules, notifiers=notifiers)
    present = read_present(desk.book.path, CLUSTER, desk.settings, m(2), most=10)
    assert len(present.incidents) == 2
    # The other one recovered while nobody wanted to know: that was told already.
    over = lag("STOPPED", m(-20), m(1.5), group="other", seq=other["valid_from_seq"])
    desk.book.tell(m(4), offset_lag=[stopped, over])
    for minute in (4, 5):
        assert desk.look(m(minute))[4:] == [(BILLING, "open", "waiting")]
    (lasting,) = desk.journal.list_open()
    assert lasting.id.endswith("-2")
    present = read_present(desk.book.path, CLUSTER, desk.settings, m(5), most=10)
    assert [one.id for one in present.incidents] == [lasting.id]


def test_a_lake_that_is_made_anew_closes_nothing(desk: Desk, tmp_path: Path) -> None:
    m, lag = desk.book.minute, desk.book.lag
    desk.tell(0, lag("STOPPED", m(-30)))
    desk.book = Book(str(tmp_path / "anew"), NOW)
    assert desk.look(m(5)) == [(BILLING, "open", "waiting")]
    assert desk.tell(-10, lag("OK", m(-60))) == [(BILLING, "open", "waiting")]


def test_a_rule_that_is_taken_away_ends_its_incidents(desk: Desk) -> None:
    m, lag = desk.book.minute, desk.book.lag
    desk.tell(0, lag("STOPPED", m(-30)))
    desk.set(rules=[{"rule": "broker_down"}], notifiers=desk.settings.notifiers)
    assert desk.look(m(1)) == [(BILLING, "open", "waiting"), (BILLING, "close", "waiting")]


def test_it_is_told_again_while_it_lasts_if_that_is_wanted(tmp_path: Path) -> None:
    desk = Desk(tmp_path, send_once=False, send_interval_s=600, send_close=False)
    with closing(desk.journal):
        stopped = desk.book.lag("STOPPED", desk.book.minute(-30))
        desk.tell(0, stopped)
        assert len(desk.tell(10, stopped)) == 1  # the first still waits
        (one,) = desk.journal._ask("SELECT id FROM deliveries")
        desk.journal.mark_sent(one[0], desk.book.minute(10))
        assert [event for _, event, _ in desk.tell(11, stopped)] == ["open", "repeat"]
        found = desk.tell(12, desk.book.lag("OK", desk.book.minute(-60)))
        assert found == [(BILLING, "open", "sent"), (BILLING, "repeat", "dropped")]


def test_a_receiver_that_fails_delays_only_itself_and_gets_all_of_it_later(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    book = Book(str(tmp_path / "lake"), now)
    book.tell(now, offset_lag=[book.lag("STOPPED", book.minute(-30))])
    with HttpReceiver().serve() as good, HttpReceiver(status=503).serve() as bad:
        hooks = [
            {"by": "webhook", "name": name, "url": receiver.url}
            for name, receiver in (("bad", bad), ("good", good))
        ]
        settings = AlertsSettings.model_validate(
            {"journal": str(tmp_path / "journal"), "rules": RULES, "notifiers": hooks}
        )
        assert run_once(book.path, CLUSTER, settings) == 1
        assert (len(good.posts), len(bad.posts)) == (1, 1)
        with closing(Journal(settings.journal, CLUSTER)) as journal:
            # The first wait is a second, which a busy machine takes to get here.
            journal._ask("UPDATE deliveries SET next_ms = next_ms + 3600000")
        assert run_once(book.path, CLUSTER, settings) == 0  # it is not due again yet
        assert len(bad.posts) == 1
        bad.status = 204
        with closing(Journal(settings.journal, CLUSTER)) as journal:
            journal._ask("UPDATE deliveries SET next_ms = 0")
        assert run_once(book.path, CLUSTER, settings) == 1
        assert (len(good.posts), len(bad.posts)) == (1, 2)
        assert len({post.key for post in bad.posts}) == 1
        assert good.posts[0].key not in {post.key for post in bad.posts}
    present = read_present(book.path, CLUSTER, settings, datetime.now(UTC), most=10)
    assert [one.subject.text for one in present.incidents] == [BILLING]
    assert [(one["notifier"], one["state"]) for one in present.deliveries] == [
        ("good", "sent"),
        ("bad", "sent"),
    ]
    assert present.incidents[0].id == present.deliveries[0]["incident_id"]


def test_one_attempt_is_one_however_long_each_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    groups = [desk.book.lag("STOPPED", desk.book.minute(-30), group=name) for name in "abc"]
    desk.tell(0, *groups)
    clock = iter(NOW + timedelta(minutes=number) for number in range(1, 1000))
    monkeypatch.setattr(sending, "datetime", SimpleNamespace(now=lambda zone: next(clock)))
    (sender,) = (
        sending.NotificationSender(one, desk.journal) for one in desk.settings.list_notifiers()
    )
    tried: list[str] = []

    def send(delivery: Delivery) -> None:
        tried.append(delivery.id)
        raise SendFailed("took a minute")

    monkeypatch.setattr(sender, "_transport", SimpleNamespace(send=send))
    assert sender.send_due() == 0
    assert len(tried) == len(set(tried)) == 3
    desk.journal.close()


def test_it_says_how_it_is_doing(desk: Desk) -> None:
    daemon = Daemon(desk.book.path, desk.settings, desk.journal)
    said = [daemon.vitals.obstacle]
    daemon.look(NOW)
    said.append(daemon.vitals.obstacle)
    desk.book.tell(NOW, offset_lag=[desk.book.lag("STOPPED", desk.book.minute(-30))])
    daemon.look(NOW)
    said.append(daemon.vitals.obstacle)
    assert said == ["not checked yet", "the lake is empty: waiting", None]
    read = daemon.vitals.registry.get_sample_value
    assert read("zklake_alerts_open_incidents", {"rule": "group_status"}) == 1
    assert read("zklake_alerts_open_incidents", {"rule": "gone"}) == 0
    assert read("zklake_alerts_waiting_messages", {"notifier": "webhook"}) == 1
    daemon.look(NOW + timedelta(days=2))
    assert read("zklake_alerts_given_up_messages_total") == 1
    daemon.look(NOW + timedelta(days=2))
    assert read("zklake_alerts_waiting_messages", {"notifier": "webhook"}) == 0


def test_nobody_to_tell_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no notifier is configured"):
        run_once(str(tmp_path), CLUSTER, AlertsSettings(journal=str(tmp_path / "journal")))


def test_a_lake_that_does_not_exist_is_waited_for(tmp_path: Path) -> None:
    with HttpReceiver().serve() as receiver:
        settings = AlertsSettings.model_validate(
            {
                "journal": str(tmp_path / "journal"),
                "notifiers": [{"by": "webhook", "url": receiver.url}],
            }
        )
        assert run_once(str(tmp_path / "nothing"), CLUSTER, settings) == 0
