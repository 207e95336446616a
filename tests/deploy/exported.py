"""What Prometheus really gets: every name with its labels, as registries and jobs make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from alerts.vitals import Vitals
from auditor.metrics import AuditMetrics
from dashboard.metrics.own import OWN
from streaming.metrics import StreamMetrics
from watcher.metrics import WatcherMetrics
from zklake.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
Labels = Mapping[str, frozenset[str]]


def list_exported() -> Labels:
    """Every name, with the labels of its series once its job has added its own."""
    jobs = dict(_read_jobs())
    made = {
        "zklake-dashboard": _list_own(),
        "zklake-watcher": _list_samples(WatcherMetrics()),
        "zklake-stream": _list_samples(StreamMetrics()),
        "zklake-alerts": _list_samples(Vitals()),
        "zklake-audit": _list_samples(AuditMetrics()),
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


def _list_samples(metrics: Metrics) -> Labels:
    for declared in metrics.list_declared():
        if declared.labels:
            # A series is there once its labels have been named.
            getattr(metrics, declared.name).labels(*declared.labels)
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    return {sample.name: frozenset(sample.labels) for sample in samples}
