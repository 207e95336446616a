"""schemathesis asks every address of the description, with what fits it and with what does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import schemathesis
from schemathesis.engine import events, from_schema

from dashboard.app import build_app
from dashboard.openapi.document import build_document
from dashboard.options import Options
from tests.dashboard.story_lake import CLUSTER

# The Host that schemathesis' own client says.
_HOST = "testserver"
_CONFIG = {
    "seed": 11,
    # A busy machine is no fault.
    "suppress-health-check": ["all"],
    "generation": {"mode": "all", "max-examples": 4, "deterministic": True, "no-shrink": True},
    "phases": {"stateful": {"enabled": False}},
    # Which moments there are, and which of two is earlier, no schema says: such a range is a 400.
    "checks": {"positive_data_acceptance": {"enabled": False}},
    "parameters": {"path.cluster": CLUSTER},
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


def test_schemathesis_finds_nothing(lake: str) -> None:
    app = build_app(Options(lake, CLUSTER, allowed_hosts=(_HOST,))).asgi
    config = schemathesis.Config.from_dict(_CONFIG)
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
        assert 200 in seen, f"{label} never answered"
        assert 400 in seen or not label.startswith("GET /api/"), f"{label} refused nothing"
        assert all(code in (200, 400, 404, 405) for code in seen), (label, seen)


def _tell_failures(event: events.ScenarioFinished) -> Iterator[str]:
    for checks in event.recorder.checks.values():
        for check in checks:
            if check.failure_info is not None:
                failure = check.failure_info.failure
                yield f"{check.name}: {failure.message}\n{check.failure_info.code_sample}"
