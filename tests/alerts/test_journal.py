from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alerts.delivery import Delivery, Event, make_delivery
from alerts.incident import Incident, IncidentSubject
from alerts.journal import Journal
from alerts.journal_file import connect_to_read, holding
from zklake.errors import ZklakeError
from zklake.settings.alert_notifiers import Webhook

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
NOTIFIER = Webhook.model_validate({"url": "http://a.example/"})
LATER = timedelta(seconds=1)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(str(tmp_path / "journal"), "shop")) as made:
        yield made


def make(id_: str = "1", closed_at: datetime | None = None) -> Incident:
    subject = IncidentSubject("group", ("zookeeper", "naïve\ud800"))
    return Incident(id_, "shop", "r", "info", subject, NOW, NOW, closed_at, closed_at, 1, {})


def add(journal: Journal, incident: Incident, event: Event = "open", number: int = 0) -> Delivery:
    one = make_delivery(incident, NOTIFIER, event, number)
    with journal.changing():
        journal.add_delivery(one, NOW)
    return one


def states(journal: Journal) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = journal._ask("SELECT event, state FROM deliveries ORDER BY rowid")
    return rows


def test_of_one_incident_messages_go_out_in_order_and_others_do_not_wait(journal: Journal) -> None:
    for id_ in ("1", "2"):
        journal.add_incident(make(id_))
    opened = add(journal, make("1"))
    add(journal, make("1"), "close")
    other = add(journal, make("2"))
    first = journal.take("webhook", NOW)
    assert first == opened._replace(attempts=1)
    journal.mark_failed(opened.id, "away", NOW + timedelta(minutes=1))
    second = journal.take("webhook", NOW)
    assert second is not None
    assert second.id == other.id
    journal.mark_sent(other.id, NOW)
    assert journal.take("webhook", NOW) is None
    again = journal.take("webhook", NOW + timedelta(minutes=1))
    assert again == opened._replace(attempts=2)
    journal.mark_sent(opened.id, NOW)
    closed = journal.take("webhook", NOW)
    assert closed is not None
    assert closed.event == "close"


def test_what_waits_too_long_is_given_up_and_then_nobody_hears_of_its_end(journal: Journal) -> None:
    journal.add_incident(make())
    add(journal, make())
    add(journal, make(), "close")
    assert journal.tidy(NOW + timedelta(seconds=10), 10) == 0
    assert journal.tidy(NOW + timedelta(seconds=11), 10) == 2
    assert states(journal) == [("open", "given_up"), ("close", "given_up")]
    assert journal.find_notified("1", "webhook") is None


def test_an_end_drops_what_only_said_that_it_lasts(journal: Journal) -> None:
    journal.add_incident(make())
    add(journal, make())
    add(journal, make(), "repeat", 1)
    told = journal.find_notified("1", "webhook")
    assert told is not None
    assert (told.number, told.is_waiting) == (1, True)
    journal.close_incident(make(closed_at=NOW + LATER))
    assert states(journal) == [("open", "waiting"), ("repeat", "dropped")]
    assert journal.list_open() == []
    assert journal.list_past_ids("r") == {"1"}


def test_what_is_long_over_is_forgotten_unless_it_still_waits(journal: Journal) -> None:
    for id_ in ("1", "2", "3"):
        journal.add_incident(make(id_))
    journal.close_incident(make("1", NOW))
    journal.close_incident(make("2", NOW))
    add(journal, make("2"))
    journal.tidy(NOW + timedelta(days=91), 1e9)
    assert journal.list_past_ids("r") == {"2"}
    assert [one.id for one in journal.list_open()] == ["3"]


def test_it_knows_again_what_it_was_told(journal: Journal) -> None:
    journal.add_incident(make())
    journal.set_horizon("r", NOW)
    with closing(Journal(journal.path, "shop")) as again:
        (known,) = again.list_open()
        assert known.subject == make().subject
        assert (known.rule, known.severity, known.started_at) == ("r", "info", NOW)
        assert again.read_horizons() == {"r": NOW}


def test_a_transaction_that_fails_leaves_nothing(journal: Journal) -> None:

    def add_twice() -> None:
        with journal.changing():
            journal.add_incident(make())
            journal.add_incident(make())

    with pytest.raises(ZklakeError, match="UNIQUE constraint failed"):
        add_twice()
    assert journal.list_open() == []


def test_another_clusters_journal_is_refused(journal: Journal) -> None:
    with pytest.raises(ZklakeError, match="belongs to cluster shop, not to other"):
        Journal(journal.path, "other")
    with pytest.raises(ZklakeError, match="belongs to cluster shop, not to other"):
        connect_to_read(journal.path, "other")


def test_a_newer_one_is_refused(journal: Journal) -> None:
    journal._ask("PRAGMA user_version = 7")
    with pytest.raises(ZklakeError, match="written by a newer zklake"):
        Journal(journal.path, "shop")


def test_a_file_that_is_none_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"not a journal\n" * 500)
    with pytest.raises(ZklakeError, match=r"journal .* cannot be used: .*move it away"):
        Journal(str(path), "shop")
    with pytest.raises(ZklakeError, match=r"journal .* cannot be used: .*move it away"):
        connect_to_read(str(path), "shop")
    assert path.read_bytes().startswith(b"not a journal")


def test_a_broken_one_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with closing(Journal(str(path), "shop")) as journal:
        for number in range(200):
            journal.add_incident(make(str(number)))
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(ZklakeError, match=r"journal .* cannot be used: .*move it away"):
        Journal(str(path), "shop")


def test_only_one_may_write(tmp_path: Path) -> None:
    path = str(tmp_path / "journal")
    with (
        holding(path),
        pytest.raises(ZklakeError, match="another `zklake alerts run`"),
        holding(path),
    ):
        pass
    with holding(path):
        pass


def test_nobody_has_written_one_yet(tmp_path: Path) -> None:
    assert connect_to_read(str(tmp_path / "journal"), "shop") is None
