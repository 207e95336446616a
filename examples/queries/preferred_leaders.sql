-- How many of the partitions that each broker should lead does it lead?
SELECT replicas[1] AS broker_id, count(*) AS preferred,
  count(*) FILTER (WHERE is_preferred_leader) AS led,
  round(100.0 * count(*) FILTER (WHERE NOT is_preferred_leader) / count(*), 1) AS imbalance_percent
FROM partition_health
GROUP BY cluster, replicas[1]
ORDER BY imbalance_percent DESC, broker_id
