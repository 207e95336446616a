"""log_ends and offset_lag: how far each group is behind, since when, and what will be lost."""
