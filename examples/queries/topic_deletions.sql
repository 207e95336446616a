-- Which topics were asked to be deleted, how long did it take, and which still wait?
SELECT topic, valid_from_at AS asked_at, coalesce(valid_to_at, now()) - valid_from_at AS took,
  coalesce(ended_by, 'waiting') AS outcome
FROM admin_operations
WHERE operation = 'topic_deletion'
ORDER BY valid_from_seq
