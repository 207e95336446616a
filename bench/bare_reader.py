"""The control of the scan: a get of every znode, and children where there are any, and no more.

It has the watcher's own connection, and as many requests in flight. It keeps nothing.
"""

from __future__ import annotations

from collections import deque

from watcher.messages import Connected, Message, Reply, Request
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession
from zklake.errors import LabError

_PATIENCE_S = 10.0


def read_all(session: ZooKeeperSession, inbox: Inbox, in_flight: int) -> int:
    """Read the whole tree; returns how many znodes there are."""
    while not any(isinstance(message, Connected) for message in inbox.take(_PATIENCE_S)):
        pass
    waiting: deque[Request] = deque([Request("get", "/")])
    asked = znodes = 0
    while waiting or asked:
        requests = [waiting.popleft() for _ in range(min(in_flight - asked, len(waiting)))]
        if requests:
            session.send(requests)
        messages = inbox.take(_PATIENCE_S)
        if not messages:
            raise LabError(f"ZooKeeper at {session.server} gave no answer in {_PATIENCE_S:.0f} s")
        asked += len(requests) - len(messages)
        znodes += _follow(messages, waiting)
    return znodes


def _follow(messages: list[Message], waiting: deque[Request]) -> int:
    """Queue the reads that answers give rise to; returns how many znodes were among them."""
    znodes = 0
    for message in messages:
        if not isinstance(message, Reply) or message.stat is None:
            raise LabError(f"the tree of the bench changed while it was read: {message}")
        if message.op == "get":
            znodes += 1
            if message.stat.num_children:
                waiting.append(Request("children", message.path))
        else:
            prefix = "/" if message.path == "/" else message.path + "/"
            waiting.extend([Request("get", prefix + name) for name in message.children or ()])
    return znodes
