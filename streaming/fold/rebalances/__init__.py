"""Rebalances: when groups divided their partitions anew, why, and what it cost."""
