-- Which partitions were reassigned, to which replicas, and how long did each take?
-- is_inferred: asked through the API, which leaves no request in ZooKeeper.
SELECT topic, partition, replicas, adding_replicas AS adding, removing_replicas AS removing,
  is_inferred, valid_from_at AS asked_at, coalesce(valid_to_at, now()) - valid_from_at AS took,
  coalesce(ended_by, 'running') AS outcome
FROM admin_operations
WHERE operation = 'reassignment'
ORDER BY valid_from_seq
