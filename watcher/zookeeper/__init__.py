"""The ZooKeeper edge: kazoo on one side, the messages of watcher/messages.py on the other."""
