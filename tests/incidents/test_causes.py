"""Why tells the causes of incidents apart, and counts them in records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from delta_tables import reading
from tests.incidents.folded import CLUSTER, fold_lake
from tests.incidents.incidents import INCIDENTS, Incident

Row = dict[str, Any]
_RISES = "SELECT * FROM root_cause WHERE added >= 100 ORDER BY rise_from, rank"


@pytest.fixture(scope="module")
def explain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The rows of the largest rise of an incident."""

    @cache
    def find(name: str) -> Sequence[Row]:
        (incident,) = (one for one in INCIDENTS if one.name == name)
        return _find_largest(tmp_path_factory.mktemp("lake"), incident)

    return find


def _find_largest(path: Path, incident: Incident) -> list[Row]:
    rows = reading.read_rows(fold_lake(path, incident.run()), CLUSTER, _RISES)
    most = max((row["added"] for row in rows), default=0)
    return [row for row in rows if row["added"] == most]


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_causes_come_in_the_order_of_their_records(incident: Incident, explain: Any) -> None:
    rows = explain(incident.name)
    found = [row["cause"] for row in rows]
    assert found[: len(incident.causes)] == list(incident.causes), rows
    if incident.entity is not None:
        assert rows[0]["entity"] == incident.entity


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_records_add_up_to_the_rise(incident: Incident, explain: Any) -> None:
    rows = explain(incident.name)
    assert sum(row["records"] for row in rows) == rows[0]["added"] > 0
    assert rows[0]["lag_after"] - rows[0]["lag_before"] == rows[0]["added"]
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    ranked = [row["records"] for row in rows if row["cause"] != "left"]
    assert ranked == sorted(ranked, reverse=True)


def test_what_is_left_is_little(explain: Any) -> None:
    """Of all incidents together; each says its own."""
    added = left = 0
    for incident in INCIDENTS:
        rows = explain(incident.name)
        added += rows[0]["added"]
        left += sum(abs(row["records"]) for row in rows if row["cause"] in ("left", "unknown"))
    assert left <= 0.1 * added
