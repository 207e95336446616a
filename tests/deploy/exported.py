"""What Prometheus really gets: every name with its labels, as registries and jobs make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from alerts.vitals import Vitals
from dashboard.metrics.own import OWN
from streaming.metrics import StreamMetrics
from watcher.metrics import Numbers, build_registry

DEPLOY = Path(__file__).parents[2] / "deploy"
Labels = Mapping[str, frozenset[str]]
M = TypeVar("M", StreamMetrics, Vitals)


def list_exported() -> Labels:
    """Every name, with the labels of its series once its job has added its own."""
    jobs = dict(_read_jobs())
    made = {
        "zklake-dashboard": _list_own(),
        "zklake-watcher": _list_watcher(),
        "zklake-stream": _list_stream(),
        "zklake-alerts": _list_alerts(),
    }
    assert made.keys() == jobs.keys()
    exported = {"up": frozenset.intersection(*jobs.values())}
    for job, names in made.items():
        for name, labels in names.items():
            assert not labels & jobs[job], f"{job} would rename a label of {name}"
            exported[name] = labels | jobs[job]
    return exported


def _read_jobs() -> Iterator[tuple[str, frozenset[str]]]:
    """Each scrape job, and the labels that all its targets have."""
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    for job in config["scrape_configs"]:
        given = [frozenset(static.get("labels", ())) for static in job["static_configs"]]
        yield job["job_name"], frozenset.intersection(*given) | {"job", "instance"}


def _list_own() -> Labels:
    return {family.name: frozenset(family.shape.all_labels) for family in OWN.families}


def _list_watcher() -> Labels:
    numbers = Numbers()
    numbers.events["create", "exact"] = 1
    numbers.gaps["restart"] = 1
    return _list_samples(build_registry(numbers))


def _list_stream() -> Labels:
    return _list_samples(_name_labels(StreamMetrics()).registry)


def _name_labels(metrics: M) -> M:
    """A series is there once its labels have been named."""
    for metric in vars(metrics).values():
        if isinstance(metric, MetricWrapperBase) and metric._labelnames:
            metric.labels(*metric._labelnames)
    return metrics


def _list_alerts() -> Labels:
    return _list_samples(_name_labels(Vitals()).registry)


def _list_samples(registry: CollectorRegistry) -> Labels:
    samples = [sample for family in registry.collect() for sample in family.samples]
    return {sample.name: frozenset(sample.labels) for sample in samples}
