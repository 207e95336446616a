-- Which members joined and left a group, when, and how long did each stay?
-- Change: 'readers'.
SELECT member_id, host, '0x' || to_hex(session) AS session, valid_from_at AS came_at,
  valid_to_at AS left_at, coalesce(valid_to_at, now()) - valid_from_at AS stayed_for, ended_by
FROM consumer_membership
WHERE group_id = 'readers'
ORDER BY valid_from_seq
