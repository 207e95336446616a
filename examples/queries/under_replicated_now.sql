-- Which partitions are under-replicated now, and which replicas are missing?
SELECT topic, partition, leader, isr, array_except(replicas, isr) AS missing, since
FROM partition_health
WHERE is_under_replicated AND NOT is_under_deletion
ORDER BY since, topic, partition
