"""/metrics and /metrics/<set> as the OpenAPI document describes them."""

from __future__ import annotations

from dashboard.metrics.exposition import OPENMETRICS, TEXT
from dashboard.metrics.sets import SETS
from dashboard.openapi.address import Address, DocumentedAnswer
from dashboard.openapi.params import Param
from dashboard.openapi.shapes import choose

_NUMBERS = DocumentedAnswer(
    "Numbers, in the form that `Accept` asks for.", media_types=(TEXT, OPENMETRICS)
)
_UNREADABLE = DocumentedAnswer("The lake cannot be read.")

METRIC_ADDRESSES: tuple[Address, ...] = (
    Address(
        "/metrics",
        "metrics",
        "Metrics",
        "For Prometheus: the sets of names that the settings choose (docs/metrics.md).",
        {200: _NUMBERS, 503: _UNREADABLE},
    ),
    Address(
        "/metrics/{name}",
        "metrics_of",
        "One set of metrics",
        "For Prometheus: one set of names alone.",
        {200: _NUMBERS, 404: DocumentedAnswer("There is no such set."), 503: _UNREADABLE},
        (Param("name", choose(*(one.name for one in SETS)), "The set.", place="path"),),
    ),
)
