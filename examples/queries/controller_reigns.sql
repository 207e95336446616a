-- Which broker was controller, at which epoch, for how long, and why did each term end?
SELECT coalesce(CAST(controller_id AS STRING), 'nobody') AS controller, controller_epoch,
  valid_from_at AS reigned_from, valid_to_at AS reigned_to,
  coalesce(valid_to_at, now()) - valid_from_at AS reigned_for, ended_by
FROM controller
ORDER BY valid_from_seq
