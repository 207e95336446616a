-- Which groups store offsets in ZooKeeper, when did each last commit, and does it have members?
WITH members AS (
  SELECT cluster, group_id, count(*) AS members
  FROM consumer_membership
  WHERE is_open AND coordinator = 'zookeeper'
  GROUP BY cluster, group_id
)
SELECT group_id, count(DISTINCT topic) AS topics, count(*) AS partitions,
  max(valid_from_at) AS last_commit_at, coalesce(max(members), 0) AS members_now
FROM consumer_offsets
LEFT JOIN members USING (cluster, group_id)
WHERE is_open AND coordinator = 'zookeeper'
GROUP BY cluster, group_id
ORDER BY last_commit_at DESC, group_id
