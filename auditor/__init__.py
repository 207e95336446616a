"""The auditor: what the tables say, held against ZooKeeper's tree and the log themselves.

It shares no code with the watcher or the fold: they may be wrong together.
"""
