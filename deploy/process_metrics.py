"""docs/process-metrics.md, made from the declarations: `python -m deploy.process_metrics`."""

from __future__ import annotations

from auditor.metrics import AuditMetrics
from streaming.metrics import StreamMetrics
from watcher.metrics import WatcherMetrics
from zklake.metrics import Metrics

_HEAD = """# Metrics of watcher, stream and auditor

Made from their declarations by `make docs`; do not edit. Each process answers at `/metrics` of its
[health address](operations.md#endpoints). No path is ever a label. What the dashboard exports of
the cluster: [metrics](metrics.md).
"""
_PROCESSES: tuple[tuple[str, type[Metrics]], ...] = (
    ("`zklake watch`", WatcherMetrics),
    ("`zklake stream`", StreamMetrics),
    ("`zklake audit --follow`", AuditMetrics),
)


def describe() -> str:
    """The whole document."""
    return "\n".join([_HEAD, *(_describe_process(*one) for one in _PROCESSES)])


def _describe_process(title: str, metrics: type[Metrics]) -> str:
    lines = [f"## {title}\n", "| metric | type | labels | meaning |", "|---|---|---|---|"]
    for name, one in zip(metrics.list_names(), metrics.list_declared(), strict=True):
        labels = ", ".join(f"`{label}`" for label in one.labels)
        lines.append(f"| `{name}` | {one.kind.__name__.lower()} | {labels} | {one.says} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(describe(), end="")  # noqa: T201
