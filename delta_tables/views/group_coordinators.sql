-- Which groups still keep their offsets in ZooKeeper, which commit twice, and do the two differ?
-- stage: zookeeper, dual_commit, kafka; moved: it commits to Kafka now, ZooKeeper's are left over;
-- moved_back: the other way round. divergence = Kafka's offset - ZooKeeper's.
WITH offsets AS (
  SELECT cluster, group_id, topic, partition,
    max(committed_offset) FILTER (WHERE coordinator = 'zookeeper') AS zookeeper_offset,
    max(committed_offset) FILTER (WHERE coordinator = 'kafka') AS kafka_offset,
    max(valid_from_at) FILTER (WHERE coordinator = 'zookeeper') AS zookeeper_at,
    max(valid_from_at) FILTER (WHERE coordinator = 'kafka') AS kafka_at
  FROM consumer_offsets
  WHERE is_open AND broker_id IS NULL
  GROUP BY cluster, group_id, topic, partition
), groups AS (
  SELECT cluster, group_id,
    count(zookeeper_at) AS zookeeper_partitions,
    count(kafka_at) AS kafka_partitions,
    max(zookeeper_at) AS zookeeper_commit_at,
    max(kafka_at) AS kafka_commit_at,
    count(*) FILTER (WHERE kafka_offset <> zookeeper_offset) AS diverging_partitions,
    min(kafka_offset - zookeeper_offset) AS min_divergence,
    max(kafka_offset - zookeeper_offset) AS max_divergence
  FROM offsets
  GROUP BY cluster, group_id
), members AS (
  SELECT cluster, group_id,
    count(*) FILTER (WHERE coordinator = 'zookeeper') AS zookeeper_members,
    count(*) FILTER (WHERE coordinator = 'kafka') AS kafka_members
  FROM consumer_membership
  WHERE is_open
  GROUP BY cluster, group_id
)
SELECT
  coalesce(groups.cluster, members.cluster) AS cluster,
  coalesce(groups.group_id, members.group_id) AS group_id,
  CASE
    WHEN groups.kafka_commit_at IS NULL AND groups.zookeeper_commit_at IS NULL
      THEN CASE WHEN members.zookeeper_members > 0 THEN 'zookeeper' ELSE 'kafka' END
    WHEN groups.kafka_commit_at IS NULL THEN 'zookeeper'
    WHEN groups.zookeeper_commit_at IS NULL THEN 'kafka'
    -- Who commits twice does both at once; the old consumer does so once a minute.
    WHEN groups.zookeeper_commit_at < groups.kafka_commit_at - INTERVAL '10 minutes' THEN 'moved'
    WHEN groups.kafka_commit_at < groups.zookeeper_commit_at - INTERVAL '10 minutes'
      THEN 'moved_back'
    ELSE 'dual_commit'
  END AS stage,
  coalesce(members.zookeeper_members, 0) AS zookeeper_members,
  coalesce(members.kafka_members, 0) AS kafka_members,
  coalesce(groups.zookeeper_partitions, 0) AS zookeeper_partitions,
  coalesce(groups.kafka_partitions, 0) AS kafka_partitions,
  groups.zookeeper_commit_at,
  groups.kafka_commit_at,
  coalesce(groups.diverging_partitions, 0) AS diverging_partitions,
  groups.min_divergence,
  groups.max_divergence
FROM groups
FULL JOIN members
  ON members.cluster = groups.cluster AND members.group_id = groups.group_id
