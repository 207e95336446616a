-- Which partitions have another owner than Kafka's range assignment gives them, or a dead one?
SELECT group_id, topic, partition, finding, owner, expected_owner, owned_since
FROM conformance
WHERE finding <> 'ok'
ORDER BY group_id, topic, partition
