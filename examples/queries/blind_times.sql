-- When were there coverage gaps, why, and what is known about them?
-- Nothing before the first gap, first_start, is known; an open gap lasts still.
SELECT reason, valid_from_at AS blind_from, valid_to_at AS blind_to, path, coalescing,
  lives AS came_and_went_unseen, missed AS records_missing, is_open
FROM log_gaps
ORDER BY valid_from_seq
