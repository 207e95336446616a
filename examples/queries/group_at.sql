-- Which members did a group have at a given time, and which partitions did each of them own?
-- Change everywhere: 'readers', the time (UTC). A member that owns nothing is idle, or a zombie.
WITH owned AS (
  SELECT cluster, coordinator, owner_member_id AS member_id, topic || '-' || partition AS name
  FROM ownership_history
  WHERE group_id = 'readers' AND valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
    AND (is_open OR valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
), members AS (
  SELECT * FROM consumer_membership
  WHERE group_id = 'readers' AND valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
    AND (is_open OR valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
)
SELECT member_id, host, valid_from_at AS member_since, count(name) AS owns,
  array_agg(name ORDER BY name) FILTER (WHERE name IS NOT NULL) AS partitions
FROM members
LEFT JOIN owned USING (cluster, coordinator, member_id)
GROUP BY member_id, host, valid_from_at
ORDER BY member_id
