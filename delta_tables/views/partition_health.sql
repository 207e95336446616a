-- How every partition is right now: is it offline, under-replicated, led by its preferred replica, being deleted?
SELECT
  state.cluster,
  state.topic,
  state.partition,
  state.leader,
  state.isr,
  assigned.replicas,
  state.leader_epoch,
  state.controller_epoch,
  -- No leader, or one that is not registered; null where nobody could read who leads. While a
  -- cluster migrates to KRaft, brokers leave ZooKeeper and serve on: then only -1 counts.
  state.leader = -1
    OR (state.leader IS NOT NULL AND leader.broker_id IS NULL AND NOT coalesce(term.is_kraft, false))
    AS is_offline,
  array_length(state.isr) < array_length(assigned.replicas) AS is_under_replicated,
  state.leader = assigned.replicas[1] AS is_preferred_leader,
  deletion.topic IS NOT NULL AS is_under_deletion,
  state.valid_from_at AS since
FROM partition_state AS state
LEFT JOIN (
  SELECT
    all_topics.cluster,
    all_topics.topic,
    all_states.partition,
    map_extract(all_topics.replicas, all_states.partition)[1] AS replicas
  FROM topics AS all_topics
  JOIN partition_state AS all_states
    ON all_states.cluster = all_topics.cluster AND all_states.topic = all_topics.topic
  WHERE all_topics.is_open AND all_states.is_open AND all_topics.broker_id IS NULL
) AS assigned
  ON assigned.cluster = state.cluster
  AND assigned.topic = state.topic
  AND assigned.partition = state.partition
LEFT JOIN (SELECT cluster, broker_id FROM broker_membership WHERE is_open) AS leader
  ON leader.cluster = state.cluster AND leader.broker_id = state.leader
LEFT JOIN (
  SELECT cluster, topic FROM admin_operations WHERE is_open AND operation = 'topic_deletion'
) AS deletion
  ON deletion.cluster = state.cluster AND deletion.topic = state.topic
LEFT JOIN (
  SELECT cluster, kraft_controller_epoch > 0 AS is_kraft FROM controller WHERE is_open
) AS term
  ON term.cluster = state.cluster
WHERE state.is_open
