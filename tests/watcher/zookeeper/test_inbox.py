from __future__ import annotations

import time
from threading import Timer

from watcher.messages import Connected, Disconnected, WatchEvent
from watcher.zookeeper.inbox import MESSAGE_BYTES, NO_CONNECTION, Inbox

UP = Connected(1, 10_000, "a:1", True)
DOWN = Disconnected("disconnected")


def test_a_connection_change_comes_alone_and_says_whom_requests_are_meant_for() -> None:
    inbox = Inbox()
    inbox.put_change(UP, 1)
    inbox.put([WatchEvent(1, 1, "/a")])
    inbox.put([WatchEvent(2, 1, "/b"), WatchEvent(3, 1, "/c")])
    inbox.put_change(DOWN, NO_CONNECTION)
    inbox.put_change(UP, 2)
    taken = []
    while messages := inbox.take(0):
        taken.append((len(messages), messages[0], inbox.believed))
    assert taken == [
        (1, UP, 1),
        (3, WatchEvent(1, 1, "/a"), 1),
        (1, DOWN, NO_CONNECTION),
        (1, UP, 2),
    ]


def test_taking_waits_for_a_message_and_no_longer_than_told() -> None:
    inbox = Inbox()
    assert inbox.take(0.01) == []
    Timer(0.05, inbox.put, [[WatchEvent(1, 1, "/a")]]).start()
    started = time.monotonic()
    assert inbox.take(120) == [WatchEvent(1, 1, "/a")]
    assert time.monotonic() - started < 60


def test_it_is_full_above_its_limit_and_roomy_below_half() -> None:
    inbox = Inbox(limit_bytes=4 * MESSAGE_BYTES)
    for _ in range(4):
        inbox.put([WatchEvent(1, 1, "/a")])
    assert (inbox.is_full, inbox.is_roomy) == (False, False)
    inbox.put([], wire_bytes=1)
    assert (inbox.is_full, inbox.is_roomy) == (True, False)
    inbox.take(0)
    assert (inbox.waiting_bytes, inbox.is_full, inbox.is_roomy) == (0, False, True)
