"""schemathesis asks every address of the description, with what fits it and with what does not.

Once of a lake that tells a story, once of the oddest rows there can be, under hostile names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import schemathesis
from schemathesis.engine import events, from_schema
from schemathesis.specs.openapi.checks import positive_data_acceptance

from dashboard.app import build_app
from dashboard.openapi.document import build_document
from dashboard.options import Options
from delta_tables.catalog import TABLE_BY_NAME
from tests.dashboard.story_lake import CLUSTER
from tests.dashboard.wild_lake import WILD_NAME, write_wild_lake
from tests.delta_tables.small_lake import write_rows

# The Host that schemathesis' own client says.
_HOST = "testserver"
_CONFIG: dict[str, Any] = {
    "seed": 11,
    # A busy machine is no fault.
    "suppress-health-check": ["all"],
    "generation": {"mode": "all", "deterministic": True, "no-shrink": True},
    "phases": {"stateful": {"enabled": False}},
    # Ours is below: it knows of moments.
    "checks": {"positive_data_acceptance": {"enabled": False}},
    "operations": [
        {
            # Burrow takes any parameter, and so do we in its place.
            "include-path-regex": "^/v3",
            "checks": {"negative_data_rejection": {"enabled": False}},
        },
        {
            # Each answer takes a process of its own.
            "include-path-regex": "^/api/(why|sql)$",
            "generation": {"max-examples": 3},
            "phases": {"examples": {"extra-data-sources": {"responses": False}}},
        },
    ],
}
_TIMES = {"last", "from", "to", "at", "time"}
_NO_TIME = re.compile(r"[Cc]annot read .* as a time|The time range ends before it begins")
_NO_NAME = re.compile(r"No (group|topic) given")


@schemathesis.check
def what_fits_is_accepted(ctx: Any, response: Any, case: Any) -> bool | None:
    """schemathesis' own, but for what no schema says.

    Which times there are, and in which order; and that the empty name is a name only where some
    group has it.
    """
    asked = case.query or {}
    if response.status_code == 400:
        is_of_time = _NO_TIME.search(response.text) and _TIMES & asked.keys()
        is_of_name = _NO_NAME.search(response.text) and "" in asked.values()
        if is_of_time or is_of_name:
            return None
    return positive_data_acceptance(ctx, response, case)


def test_schemathesis_finds_nothing(lake: str) -> None:
    statuses = ask_all(lake, {"path.cluster": CLUSTER}, examples=8)
    paths = build_document()["paths"]
    for label, seen in statuses.items():
        assert 200 in seen, f"{label} never answered"
        path = label.removeprefix("GET ")
        # Where nothing can be said, schemathesis says nothing wrong.
        if path.startswith("/api/") and paths[path]["get"].get("parameters"):
            assert 400 in seen, f"{label} refused nothing"


def test_schemathesis_finds_nothing_where_every_name_is_hostile(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lake = str(tmp_path_factory.mktemp("wild"))
    write_wild_lake(lake)
    now = datetime.now(UTC)
    told = {"path": f"/brokers/topics/{WILD_NAME}", "op": "create", "seq": 2**62}
    times = {"observed_at_ms": int(now.timestamp() * 1000), "observed_on": str(now.date())}
    write_rows(lake, CLUSTER, TABLE_BY_NAME["znode_events"], [{**told, **times}])
    names = dict.fromkeys(("path.group", "path.topic", "query.topic"), WILD_NAME)
    statuses = ask_all(lake, {"path.cluster": CLUSTER, **names}, examples=4)
    for label, seen in statuses.items():
        # The slash of a name is not always escaped: then the address is another one.
        wanted = {200, 404} if re.search("{group}|{topic}", label) else {200}
        assert wanted & seen, f"{label} never answered"


def ask_all(lake: str, parameters: dict[str, str], *, examples: int) -> dict[str, set[int]]:
    """By address the statuses of its answers, none of which was wrong."""
    app = build_app(Options(lake, CLUSTER, allowed_hosts=(_HOST,))).asgi
    generation = {**_CONFIG["generation"], "max-examples": examples}
    chosen = {**_CONFIG, "parameters": parameters, "generation": generation}
    config = schemathesis.Config.from_dict(chosen)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, config=config)
    schema.validate()
    statuses: dict[str, set[int]] = defaultdict(set)
    for event in from_schema(schema).execute():
        assert not isinstance(event, events.NonFatalError | events.FatalError), event
        if isinstance(event, events.ScenarioFinished):
            assert not list(_tell_failures(event))
            for one in event.recorder.interactions.values():
                assert one.response is not None
                statuses[event.label or ""].add(one.response.status_code)
    # The description itself is fetched by schemathesis, and asked for by another test.
    paths = {path for path in build_document()["paths"] if path != "/api/openapi.json"}
    assert {label.removeprefix("GET ") for label in statuses} == paths
    for label, seen in statuses.items():
        assert all(code in (200, 400, 404, 405) for code in seen), (label, seen)
    return statuses


def _tell_failures(event: events.ScenarioFinished) -> Iterator[str]:
    for checks in event.recorder.checks.values():
        for check in checks:
            if check.failure_info is not None:
                failure = check.failure_info.failure
                yield f"{check.name}: {failure.message}\n{check.failure_info.code_sample}"
