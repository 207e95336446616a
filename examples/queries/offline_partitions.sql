-- Which partitions are offline now, and since when?
-- Those of a topic that is being deleted are not: deletion itself takes the leader away.
SELECT topic, partition, leader, isr, replicas, since
FROM partition_health
WHERE is_offline AND NOT is_under_deletion
ORDER BY since, topic, partition
