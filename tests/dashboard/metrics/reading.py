"""Scrapes of a lake, read by prometheus_client's own parsers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text

from dashboard.options import MetricOptions, Options
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER
from tests.delta_tables.small_lake import write_lake

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
Series = dict[frozenset[tuple[str, str]], float]


class Scraped:
    """The families of one answer, by name; a counter's with its _total."""

    def __init__(self, families: list[Metric]) -> None:
        self.families = families
        self._series: dict[str, Series] = {}
        for family in families:
            for sample in family.samples:
                mine = self._series.setdefault(sample.name, {})
                labels = frozenset(sample.labels.items())
                assert labels not in mine, f"{sample.name} is there twice: {sample.labels}"
                mine[labels] = sample.value

    @property
    def names(self) -> set[str]:
        return set(self._series)

    def count(self) -> int:
        return sum(len(series) for series in self._series.values())

    def find(self, name: str, **labels: str) -> list[float]:
        """The values whose labels are these, and maybe others."""
        wanted = labels.items()
        return [value for given, value in self._series.get(name, {}).items() if wanted <= given]

    def table(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """Every value of a name, by what these labels say; they must tell the series apart."""
        rows = [(dict(given), value) for given, value in self._series.get(name, {}).items()]
        found = {tuple(given[one] for one in labels): value for given, value in rows}
        assert len(found) == len(rows), name
        return found

    def list(self, name: str, label: str) -> list[str]:
        """What a label says, in the order of the text."""
        return [dict(given)[label] for given in self._series.get(name, {})]


def scrape(
    lake: str,
    path: str = "/metrics",
    accept: str = "",
    cluster: str = CLUSTER,
    **chosen: Any,
) -> Scraped:
    options = Options(lake, cluster, metrics=replace(MetricOptions(), **chosen))
    answer = open_client(options).get(path, headers={"accept": accept})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(accept or "text/plain; version=0.0.4")
    text = answer.content.decode()
    if accept:
        return Scraped(list(parse_openmetrics(text)))  # type: ignore[no-untyped-call]
    return Scraped(list(parse_text(text)))


def make_lake(path: object, rows: Mapping[str, list[dict[str, Any]]]) -> str:
    write_lake(str(path), CLUSTER, rows)
    return str(path)


def tell_lag(group_id: str, **columns: Any) -> dict[str, Any]:
    """An open row of offset_lag."""
    return {
        "valid_from_seq": 1,
        "coordinator": "zookeeper",
        "group_id": group_id,
        "topic": "orders",
        "partition": 0,
        "committed_offset": 90,
        "log_end_offset": 100,
        "lag": 10,
        "raw_lag": 10,
        "lag_seconds": 2.5,
        "status": "OK",
        "owner": "c-0",
        "owner_member_id": "c",
        **columns,
    }
