"""docs/metrics.md, made from the families themselves: `python -m dashboard.metrics.docs`."""

from __future__ import annotations

from typing import Any

from dashboard.metrics.family import Family, MetricSet
from dashboard.metrics.sets import SETS

_HEAD = """# Metrics

Made from `dashboard/metrics` by `make docs`; do not edit.

`zklake dashboard` answers at `/metrics`, in Prometheus' text form or in OpenMetrics, whichever is
asked for, and asks for the dashboard's password or token if it has one. The settings are those of
[`[metrics]`](settings.md). `sets` chooses the sets of names at `/metrics`; each is at
`/metrics/<set>` too, whether chosen or not, so that a scrape job can take one:

```yaml
scrape_configs:
  - job_name: kafka-lag
    metrics_path: /metrics/lag_exporter
    static_configs: [{targets: ["127.0.0.1:8080"]}]
```

- **Source.** The tables of the lake, as of its last event: a scrape asks neither ZooKeeper nor a
  broker. While no table has news, the text is not made anew.
- **How much.** Our own names stop at groups (`detail`). `groups`, `topics` and their `exclude_`
  choose by name, `only_bad` and `top` by how groups are doing. Beyond `most_series` a set is cut:
  the groups that are farthest behind stay, then topics by name, and `zklake_metrics_left_out`
  counts the series that are missing.
- **Two coordinators.** The other exporters know no coordinator. A group that both ZooKeeper and
  Kafka keep is one group there, and the larger committed offset of each partition counts.
- **Names.** Groups and topics are labelled with their names as they are, whatever is in them.
- The watcher and the stream have metrics of their own, at their health addresses:
  [process-metrics](process-metrics.md).
"""


def describe() -> str:
    """The whole document."""
    return "\n".join([_HEAD, *(_describe_set(one) for one in SETS)])


def _describe_set(one: MetricSet) -> str:
    lines = [f"## {one.title}\n", f"`/metrics/{one.name}`. {one.says}\n"]
    lines += ["| metric | type | labels | says |", "|---|---|---|---|"]
    lines += [_describe_family(family) for family in one.families]
    if one.lacks:
        lines += ["", "Not exported:", "", *(f"- `{name}`: {why}." for name, why in one.lacks)]
    return "\n".join([*lines, ""])


def _describe_family(family: Family[Any]) -> str:
    kind = "counter" if family.is_counter else "gauge"
    labels = ", ".join(f"`{label}`" for label in family.shape.all_labels)
    fine = ' Only with `detail = "partitions"`.' if _is_fine(family) else ""
    return f"| `{family.name}` | {kind} | {labels} | {family.says}.{fine} |"


def _is_fine(family: Family[Any]) -> bool:
    own = SETS[0]
    return family in own.families and family not in own.choose(with_partitions=False)


if __name__ == "__main__":
    print(describe(), end="")  # noqa: T201
