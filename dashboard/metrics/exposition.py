"""Families and what they are numbers of, as text: Prometheus' own form, or OpenMetrics.

Both are written by prometheus_client. Knows no particular metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from dashboard.metrics.family import Family, Level, Shape

TEXT, OPENMETRICS = CONTENT_TYPE_PLAIN_0_0_4, openmetrics.CONTENT_TYPE_LATEST
_END = b"# EOF\n"


class _Collected(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """What there is."""
        return self._metrics


def choose_form(accept: str) -> str:
    """The content type for whoever accepts this. Prometheus asks for OpenMetrics."""
    return OPENMETRICS if "application/openmetrics-text" in accept.lower() else TEXT


def write_metrics(
    families: Iterable[Family[Any]],
    cluster: str,
    things: Mapping[Level, Sequence[Any]],
    form: str,
) -> bytes:
    """The text of these families, without its end: more may follow."""
    collected = _Collected(_fill(families, cluster, things))
    if form == OPENMETRICS:
        text: bytes = openmetrics.generate_latest(collected)  # type: ignore[no-untyped-call]
        return text.removesuffix(_END)
    return generate_latest(collected)


def write_end(form: str) -> bytes:
    """What stands at the end."""
    return _END if form == OPENMETRICS else b""


def _fill(
    families: Iterable[Family[Any]], cluster: str, things: Mapping[Level, Sequence[Any]]
) -> Iterator[Metric]:
    # Most families share their labels with others.
    known: dict[int, list[list[str]]] = {}
    for family in families:
        shape, kind = family.shape, CounterMetricFamily if family.is_counter else GaugeMetricFamily
        metric = kind(family.name, family.says, labels=shape.all_labels)
        mine = things.get(shape.level, ())
        if id(shape) not in known:
            known[id(shape)] = [_write_labels(shape, cluster, thing) for thing in mine]
        for thing, labels in zip(mine, known[id(shape)], strict=True):
            value = family.find(thing)
            if value is not None:
                metric.add_metric(labels, float(value))
        if metric.samples:
            yield metric


def _write_labels(shape: Shape[Any], cluster: str, thing: object) -> list[str]:
    values = [_write_text(str(value)) for value in shape.write(thing)]
    return [cluster, *values] if shape.cluster_label else values


def _write_text(text: str) -> str:
    """What cannot be encoded is written out; everything else is escaped by the library."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
