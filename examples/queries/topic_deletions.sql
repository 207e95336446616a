-- Which topic deletions were requested, how long did they take, and which are still pending?
SELECT topic, valid_from_at AS asked_at, coalesce(valid_to_at, now()) - valid_from_at AS took,
  coalesce(ended_by, 'waiting') AS outcome
FROM admin_operations
WHERE operation = 'topic_deletion'
ORDER BY valid_from_seq
