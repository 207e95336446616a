"""Keeping a lake small and fast for months, between batches, without Spark."""
