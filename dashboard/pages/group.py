"""Group: one group's lag over time, partition ownership, rebalances, pauses and members."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from dashboard.finding import check_seen
from dashboard.incident import GROUP_HISTORY, INCIDENT_READS, INCIDENT_SHAPE, Scope, load_incident
from dashboard.incident_view import draw_incident
from dashboard.lag_totals import PEAK, load_peak
from dashboard.openapi.params import Param
from dashboard.openapi.rows import WORDS, describe_rows
from dashboard.openapi.shapes import Either, choose
from dashboard.page import Asked, Data, Page
from dashboard.pages.groups import EMPTY, GROUP, list_groups
from dashboard.rebalance_costs import PAUSE, REBALANCE, load_pauses, load_rebalances
from delta_tables.asking.why import find_lag
from delta_tables.live.tables import Row
from delta_tables.reading import quote
from zklake.errors import QueryError

_READS = (*INCIDENT_READS, "consumer_membership", "consumer_offsets", "consumption_pauses")

_PARTITIONS = """
SELECT topic, partition, owner_member_id, owner, committed_offset, committed_at, log_end_offset,
  lag, reason, lag_seconds, lag_quality, velocity, catch_up_seconds, retention_share, lost_records,
  loss_at, divergence, status, status_since, sampled_at
FROM lag_now
WHERE {where}
ORDER BY topic, partition
LIMIT 2000
"""
_OFFSETS = """
SELECT topic, partition, committed_offset, valid_from_at AS committed_at
FROM consumer_offsets
WHERE is_open AND {where}
ORDER BY topic, partition
LIMIT 2000
"""
_MEMBERS = """
SELECT member_id, host, pattern, subscription, session, valid_from_at, valid_to_at, is_open,
  ended_by, exit, exit_evidence
FROM consumer_membership
WHERE {where} AND {overlap}
ORDER BY is_open DESC, valid_from_seq DESC
LIMIT 500
"""


def load(asked: Asked) -> Data:
    """Everything that is known of one group in the range."""
    group = _find(asked)
    tables = asked.tables.narrow(find_lag(group["group_id"], asked.span.start))
    asked = asked._replace(tables=tables)
    where = f"coordinator = {quote(group['coordinator'])} AND group_id = {quote(group['group_id'])}"

    def ask(sql: str, table: str) -> list[Row]:
        return tables.query(sql.format(where=where, overlap=asked.span.write_overlap()), table)

    partitions = ask(_PARTITIONS, "lag_now") or ask(_OFFSETS, "consumer_offsets")
    return {
        "group": group,
        "partitions": partitions,
        "peak": load_peak(tables, asked.span, where),
        "rebalances": load_rebalances(tables, asked.span, where, asked.now),
        "pauses": load_pauses(tables, asked.span, where),
        "members": ask(_MEMBERS, "consumer_membership"),
        **load_incident(asked, scope_group(where, [row["topic"] for row in partitions])),
    }


def scope_group(where: str, topics: Iterable[str]) -> Scope:
    """Of a group: its partitions, and the topics that it reads."""
    names = sorted(set(topics))
    listed = ", ".join(quote(name) for name in names)
    return Scope(
        lag=where,
        label="topic || '-' || partition",
        group=where,
        partitions=f"topic IN ({listed})" if names else "",
        topics=names,
    )


def _find(asked: Asked) -> Row:
    group_id, coordinator = asked.params.get("group_id", ""), asked.params.get("coordinator", "")
    named = list_groups(asked.tables, group_id)
    known = [group for group in named if coordinator in ("", group["coordinator"])]
    if known:
        return known[0]
    if not group_id:
        raise QueryError("No group given: add group_id, or choose a group on the Groups page.")
    check_seen(asked.tables, "group", group_id)
    # It is gone, but its history is not.
    return {"group_id": group_id, "coordinator": coordinator or "zookeeper", **EMPTY}


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """All that happened around the group, on one time axis."""
    group = data["group"]
    why = asked.link("why", group_id=group["group_id"], coordinator=group["coordinator"])
    return draw_incident(asked, data, why)


COORDINATOR = Param(
    "coordinator",
    choose(*WORDS["coordinator"]),
    "Where its offsets are stored, if ZooKeeper and Kafka both have a group of that name.",
)

PAGE = Page(
    "group",
    "Group",
    load,
    _READS,
    draw,
    in_menu=False,
    under="groups",
    params=(
        Param("group_id", str, "The group.", ("billing",), is_required=True),
        COORDINATOR,
    ),
    answer={
        "group": GROUP,
        # Where nobody samples log ends, only what was committed.
        "partitions": Either(([describe_rows(_PARTITIONS)], [describe_rows(_OFFSETS)])),
        "peak": PEAK,
        "rebalances": [REBALANCE],
        "pauses": [PAUSE],
        "members": [describe_rows(_MEMBERS)],
        **GROUP_HISTORY,
        **INCIDENT_SHAPE,
    },
)
