"""What stands in `__consumer_offsets`: keys and values of every release, read as hostile bytes."""
