"""Kafka's old high-level consumer (0.7-1.1), alive again: registers, claims, rebalances, commits.

Modern clients write nothing of it into ZooKeeper, so this one makes what the folds interpret.
docs/consumers.md explains how it works.
"""
