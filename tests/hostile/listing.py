"""How many attempts there are of each class, as SECURITY.md has it."""

from __future__ import annotations

from collections import Counter

from tests.hostile import (
    hostile_names,
    http_attempts,
    login_attempts,
    record_attempts,
    sql_attempts,
    znode_attempts,
)


def count_classes() -> dict[str, int]:
    """In the order of the table."""
    lists = (sql_attempts.ATTEMPTS, http_attempts.ATTEMPTS, hostile_names.ATTEMPTS)
    counted = Counter(attempt.group for attempts in lists for attempt in attempts)
    counted["znodes: data that no Kafka writes"] = len(znode_attempts.ATTEMPTS)
    counted["records: forged events"] = len(record_attempts.ATTEMPTS)
    counted["records: events with forged data"] = len(record_attempts.POISONED)
    counted["logins: credentials and headers"] = len(login_attempts.ATTEMPTS)
    return dict(counted)


def write_table() -> str:
    """In Markdown."""
    counted = count_classes()
    rows = [f"| {name} | {count} |" for name, count in counted.items()]
    total = f"| **all** | **{sum(counted.values())}** |"
    return "\n".join(["| class | attempts |", "|---|---:|", *rows, total])


if __name__ == "__main__":
    print(write_table())
