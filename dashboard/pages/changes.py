"""Changes: changes to configs and topics, admin operations, and the cluster itself."""

from __future__ import annotations

from dashboard.openapi.params import Param
from dashboard.openapi.rows import WORDS
from dashboard.openapi.shapes import Instant, choose, say
from dashboard.page import Asked, Data, Page
from delta_tables.live.tables import Row

_READS = ("config_history", "admin_operations", "topics", "cluster_state")
_SHOWN = 300

# Only rows that came or went in the range are looked at, and what stood before each of them.
_CONFIGS = """
WITH states AS (
  SELECT *, lag(value) OVER same AS value_before,
    coalesce(lag(valid_to_seq) OVER same = valid_from_seq, false) AS is_next
  FROM config_history
  WHERE config_key IS NOT NULL AND {overlap}
  WINDOW same AS (
    PARTITION BY entity_type, entity_name, client_id, config_key ORDER BY valid_from_seq)
)
SELECT valid_from_at AS at, 'config' AS kind, entity_type, entity_name, config_key AS subject,
  CASE WHEN is_next THEN 'changed' ELSE 'set' END AS what,
  CASE WHEN is_next THEN value_before END AS before, value AS after, is_redacted
FROM states WHERE {came}
UNION ALL
SELECT valid_to_at, 'config', entity_type, entity_name, config_key, ended_by, value, NULL,
  is_redacted
FROM states WHERE ended_by IN ('removed', 'deleted') AND {went}
ORDER BY at DESC LIMIT 300
"""
_OPERATIONS = """
SELECT at, 'operation' AS kind, 'topics' AS entity_type, topic AS entity_name,
  operation || coalesce(' of partition ' || partition, '') AS subject, what,
  array_to_string(removing_replicas, ', ') AS before,
  array_to_string(replicas, ', ') AS after, false AS is_redacted
FROM (
  SELECT valid_from_at AS at, 'asked for' AS what, operation, topic, partition, replicas,
    removing_replicas
  FROM admin_operations WHERE {came}
  UNION ALL
  SELECT valid_to_at AS at, ended_by AS what, operation, topic, partition, replicas,
    removing_replicas
  FROM admin_operations WHERE NOT is_open AND {went}
)
ORDER BY at DESC LIMIT 300
"""
_TOPICS = """
WITH states AS (
  SELECT *, lag(partition_count) OVER same AS count_before,
    coalesce(lag(incarnation) OVER same = incarnation, false) AS is_next
  FROM topics
  WHERE broker_id IS NULL AND {overlap}
  WINDOW same AS (PARTITION BY topic ORDER BY valid_from_seq)
)
SELECT valid_from_at AS at, 'topic' AS kind, 'topics' AS entity_type, topic AS entity_name,
  'partitions' AS subject, CASE WHEN is_next THEN 'changed' ELSE 'created' END AS what,
  CASE WHEN is_next THEN CAST(count_before AS STRING) END AS before,
  CAST(partition_count AS STRING) AS after, false AS is_redacted
FROM states WHERE {came} AND (NOT is_next OR count_before <> partition_count)
UNION ALL
SELECT valid_to_at, 'topic', 'topics', topic, 'partitions', ended_by,
  CAST(partition_count AS STRING), NULL, false
FROM states WHERE ended_by IN ('deleted', 'recreated') AND {went}
ORDER BY at DESC LIMIT 300
"""
_CLUSTER = """
SELECT valid_from_at AS at, 'cluster' AS kind, 'cluster' AS entity_type, path AS entity_name,
  name AS subject, CASE WHEN znode_version = 0 THEN 'created' ELSE 'changed' END AS what,
  CAST(NULL AS STRING) AS before,
  coalesce(cluster_id, 'KRaft controller ' || kraft_controller_id, 'version ' || znode_version)
    AS after, false AS is_redacted
FROM cluster_state
WHERE name <> 'producer_id_block' AND {came}
ORDER BY at DESC LIMIT 300
"""
_KINDS = {
    "config": (_CONFIGS, "config_history"),
    "operation": (_OPERATIONS, "admin_operations"),
    "topic": (_TOPICS, "topics"),
    "cluster": (_CLUSTER, "cluster_state"),
}


def load(asked: Asked) -> Data:
    """The newest changes of the range, of one kind or of all."""
    span, wanted = asked.span, asked.params.get("kind", "")
    rows: list[Row] = []
    for kind, (sql, table) in _KINDS.items():
        if wanted in ("", kind):
            text = sql.format(
                overlap=span.write_overlap(),
                came=span.write_within("valid_from_at"),
                went=span.write_within("valid_to_at"),
            )
            rows += asked.tables.query(text, table)
    rows.sort(key=lambda row: row["at"], reverse=True)
    return {"kinds": list(_KINDS), "kind": wanted, "changes": rows[:_SHOWN], "found": len(rows)}


PAGE = Page(
    "changes",
    "Changes",
    load,
    _READS,
    params=(Param("kind", choose(*_KINDS), "Only changes of this kind."),),
    answer={
        "kinds": [choose(*_KINDS)],
        "kind": choose("", *_KINDS),
        "changes": [
            {
                "at": Instant,
                "kind": choose(*_KINDS),
                "entity_type": choose(*WORDS["entity_type"], "cluster"),
                "entity_name": str | None,
                "subject": say(str, "the config key, the operation, or the like"),
                "what": str,
                "before": str | None,
                "after": str | None,
                "is_redacted": say(bool, "whether the value is a secret and therefore redacted"),
            }
        ],
        "found": say(int, "how many changes were found; only the newest are listed"),
    },
)
