"""Migration: how ready the cluster is for the move to KRaft, by what ZooKeeper shows."""

from __future__ import annotations

from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, Named, choose, say
from dashboard.page import Asked, Data, Page
from delta_tables.asking.readiness import CHECKS, PHASES, SQL, VERDICTS
from delta_tables.live.tables import Row

_READS = (
    "controller",
    "cluster_state",
    "broker_membership",
    "partition_state",
    "topics",
    "consumer_membership",
    "consumer_offsets",
    "log_gaps",
)
_GROUPS = """
SELECT group_id, stage, zookeeper_members, kafka_members, zookeeper_commit_at, kafka_commit_at
FROM group_coordinators
WHERE zookeeper_members > 0 OR zookeeper_commit_at IS NOT NULL
ORDER BY zookeeper_members DESC, zookeeper_commit_at DESC, group_id
LIMIT 200
"""
_STAGES = ("zookeeper", "dual_commit", "kafka", "moved", "moved_back")


def load(asked: Asked) -> Data:
    """Every check with its verdict and evidence, and the groups that still use ZooKeeper."""
    # The view counts silence up to now: the same rows say something else a minute later.
    minute = asked.now.replace(second=0, microsecond=0)
    key = ("migration_readiness", minute)
    rows: list[Row] = asked.tables.derive(
        key, ("migration_readiness",), lambda: asked.tables.ask(SQL, "migration_readiness")
    )
    return {
        "phase": rows[0]["phase"] if rows else "unknown",
        "phase_says": PHASES[rows[0]["phase"]] if rows else PHASES["unknown"],
        "verdict": min((row["verdict"] for row in rows), key=VERDICTS.index, default="unknown"),
        "checks": [_write_check(row) for row in rows],
        "groups": asked.tables.query(_GROUPS, "group_coordinators"),
    }


def _write_check(row: Row) -> Row:
    names = ("check_name", "verdict", "detail", "action", "evidence")
    return {"question": CHECKS[row["check_name"]], **{name: row[name] for name in names}}


_CHECK = Named(
    "MigrationCheck",
    {
        "question": str,
        "check_name": choose(*CHECKS),
        "verdict": say(
            choose(*VERDICTS), "blocked: do not go on; unknown: ZooKeeper does not show it"
        ),
        "detail": say(str, "what was found"),
        "action": say(str | None, "what to do about it"),
        "evidence": [
            {
                "source_table": str,
                "source_seq": say(int, "valid_from_seq of the row in that table"),
                "says": str,
            }
        ],
    },
)
PAGE = Page(
    "migration",
    "Migration",
    load,
    _READS,
    has_span=False,
    answer={
        "phase": say(choose(*PHASES), "how far the move to KRaft is"),
        "phase_says": str,
        "verdict": say(choose(*VERDICTS), "the worst of the checks"),
        "checks": [_CHECK],
        "groups": [
            describe_rows(
                _GROUPS,
                group_id=str,
                stage=say(choose(*_STAGES), "where its offsets are, see the view"),
                zookeeper_members=int,
                kafka_members=int,
                zookeeper_commit_at=Instant | None,
                kafka_commit_at=Instant | None,
            )
        ],
    },
)
