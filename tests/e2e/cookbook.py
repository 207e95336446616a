"""docs/cookbook.md: every example, asked by `zklake sql` of a lake of stories.

`python -m tests.e2e.cookbook LAKE > docs/cookbook.md`. LAKE is what tests/e2e/test_stories.py
leaves behind (CONTRIBUTING.md says where): one cluster's tables, and beside them what was told.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from confluent_kafka.admin import ClusterMetadata

from tests.e2e.answers import ask
from tests.e2e.told import Fact, Told
from tests.examples import EXAMPLES, Example

TRUTH = "truth.jsonl"
_ROWS, _WIDTH = 10, 180
_BY_NAME = {example.name: example for example in EXAMPLES}

SECTIONS: dict[str, tuple[str, ...]] = {
    "At a given time": (
        "owner_and_leader_at",
        "timeline",
        "brokers_at",
        "under_replicated_at",
        "group_at",
        "committed_offsets_at",
        "stuck_owners_at",
    ),
    "Now": (
        "brokers_now",
        "offline_partitions",
        "under_replicated_now",
        "preferred_leaders",
        "groups_on_zookeeper",
        "cluster_facts",
    ),
    "Brokers, controllers, sessions": ("broker_absences", "controller_reigns", "session_ends"),
    "Partitions": ("leader_changes", "leader_epochs", "leaderless_partitions", "isr_shrinks"),
    "Topics, configs, operations": (
        "partitions_added",
        "topics_recreated",
        "topic_deletions",
        "reassignments",
        "config_changes",
    ),
    "Consumer groups": (
        "member_lives",
        "flapping_members",
        "group_churn",
        "unowned_partitions",
        "offset_rewinds",
    ),
    "Lag and rebalances": (
        "lag_at",
        "lag_now",
        "lag_by_day",
        "busiest_topics",
        "rebalances_of_group",
        "pauses_of_group",
        "wrong_owners",
    ),
    "What was seen, and what was not": (
        "blind_times",
        "unseen_values",
        "unreadable_values",
        "last_writes",
        "znode_history",
    ),
}

_HEAD = """# Cookbook

Made by `python -m tests.e2e.cookbook LAKE`; do not edit. The questions are the files of
`examples/queries`; the answers are those of `zklake sql` to a lake into which every
[story](stories.md) was folded, on a cluster of three brokers. The names and times in the SQL here
were put in from the stories; the files themselves say `orders`, `readers` and
`2026-11-16T03:12:00Z`. A test holds each answer to what the stories really did. Long answers and
long lines are cut (…).

To ask your own lake, hand a file to `zklake sql`; a line that begins with `-- Change` says which of
its names and times are yours to change:

```
export ZKLAKE_LAKE=/data/lake ZKLAKE_CLUSTER=prod
zklake sql < examples/queries/brokers_now.sql
sed "s/'orders'/'payments'/g; s/2026-11-16T03:12:00Z/2026-11-20T14:05:00Z/g" \\
    examples/queries/owner_and_leader_at.sql | zklake sql
```

Times are UTC. A state holds from `valid_from_at` up to, and without, `valid_to_at`.
"""


def write_cookbook(lake: Path, cluster: str, told: Told) -> str:
    """The whole document."""
    parts = [_HEAD]
    for section, names in SECTIONS.items():
        parts += [f"## {section}\n"]
        parts += [_write_example(_BY_NAME[name], lake, cluster, told) for name in names]
    return "\n".join(parts)


def _write_example(example: Example, lake: Path, cluster: str, told: Told) -> str:
    asked = ask(example, told)
    _, _, sql = asked.partition("\n")
    head, *rows = _run(lake, cluster, asked).splitlines()
    first = _find_moment(rows, told) if example.name == "timeline" else 0
    answer = "\n".join(map(_shorten, [head, *_cut(rows, first)]))
    return (
        f"### {example.question}\n\n`examples/queries/{example.name}.sql`\n\n"
        f"```sql\n{sql.strip()}\n```\n\n```\n{answer}\n```\n"
    )


def _run(lake: Path, cluster: str, sql: str) -> str:
    command = [sys.executable, "-m", "zklake", "sql", "--lake", str(lake), "--cluster", cluster]
    return subprocess.run(command, input=sql, capture_output=True, text=True, check=True).stdout


def _find_moment(rows: list[str], told: Told) -> int:
    """Where the time that was asked for begins to show: the controller's death."""
    (kill,) = told.find("broker_killed", story="controller-failover")
    names = (f"broker {kill['broker_id']} ", "session_ended")
    found = (n for n, row in enumerate(rows) if all(name in row for name in names))
    *_, last = found
    return last - 1


def _cut(rows: list[str], first: int) -> list[str]:
    shown = rows[first : first + _ROWS] or ["(no rows)"]
    before = [f"… {first} before"] if first else []
    more = len(rows) - first - len(shown)
    return [*before, *shown, *([f"… {more} more"] if more > 0 else [])]


def _shorten(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def write_truth(lake: Path, told: Told) -> None:
    """Leave beside the tables what was told, for whoever writes the cookbook."""
    facts = (fact for story in told.facts.values() for fact in story)
    (lake / TRUTH).write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))


def read_truth(lake: Path) -> Told:
    """What was told; what the brokers said of themselves is gone with them."""
    facts = map(json.loads, (lake / TRUTH).read_text().splitlines())
    return Told(_group(facts), ClusterMetadata())


def _group(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    by_story: dict[str, list[Fact]] = {}
    for fact in facts:
        by_story.setdefault(fact["story"], []).append(fact)
    return by_story


if __name__ == "__main__":
    found = Path(sys.argv[1])
    (tables,) = (path for path in found.iterdir() if path.is_dir())
    print(write_cookbook(found, tables.name, read_truth(found)), end="")
