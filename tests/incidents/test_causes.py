"""Why tells the causes of incidents apart, and counts them in records."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.incidents.incidents import Incident
from tests.incidents.simulation import Simulation
from tests.incidents.table import EVERY, Outcome, find_outcome, format_table

Find = Callable[[Incident], Outcome]
_DOCS = Path(__file__).parents[2] / "docs" / "causes.md"
# What is not told as it was; docs/causes.md has the reasons.
MISSED_FIRST = {"a stuck owner that somebody kills"}
MISSED_SECOND = {"a dead owner while a broker is away", *MISSED_FIRST}

every = pytest.mark.parametrize("incident", EVERY, ids=lambda incident: incident.name)


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """What is said of an incident; each is played once."""

    @cache
    def find(name: str) -> Outcome:
        (incident,) = (one for one in EVERY if one.name == name)
        return find_outcome(incident, tmp_path_factory.mktemp("lake"))

    return lambda incident: find(incident.name)


@every
def test_causes_come_in_the_order_of_their_records(incident: Incident, find: Find) -> None:
    outcome = find(incident)
    assert outcome.is_first == (incident.name not in MISSED_FIRST), outcome.rows
    assert outcome.is_second == (incident.name not in MISSED_SECOND), outcome.rows


@every
def test_records_add_up_to_the_rise(incident: Incident, find: Find) -> None:
    rows = find(incident).rows
    assert sum(row["records"] for row in rows) == rows[0]["added"] > 0
    assert rows[0]["lag_after"] - rows[0]["lag_before"] == rows[0]["added"]
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    ranked = [row["records"] for row in rows if row["cause"] != "left"]
    assert ranked == sorted(ranked, reverse=True)


@every
def test_a_group_without_an_incident_is_not_blamed(incident: Incident, find: Find) -> None:
    """After a rebalance all commit at once: lag falls, and rises by what comes until the next."""
    between_commits = Simulation.commit_s * Simulation.write_rate * Simulation.partitions
    for row in find(incident).elsewhere:
        assert row["added"] < between_commits
        assert row["cause"] not in ("owner_stuck", "owner_crashed", "leader_away")


def test_what_is_left_is_little(find: Find) -> None:
    """Of all incidents together; each says its own."""
    outcomes = [find(incident) for incident in EVERY]
    explained, added = sum(one.explained for one in outcomes), sum(one.added for one in outcomes)
    assert explained >= 0.9 * added


def test_the_document_says_how_well_it_does(find: Find) -> None:
    """`python -m tests.incidents.table` prints what must stand there."""
    table = "\n".join(format_table([find(incident) for incident in EVERY]))
    assert table in _DOCS.read_text()
