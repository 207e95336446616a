"""One small history with everything in it, and its faultless publication."""

from __future__ import annotations

from typing import Any

from tests.reference.history import History
from tests.reference.ideal import Ideal


def write_history() -> History:
    """Small, with everything in it: index of the change in the comment."""
    history = History()
    history.create("/a", b"0")  # 0
    history.create("/a/c", b"0")  # 1
    history.set("/a", b"1")  # 2
    history.set("/a", b"1")  # 3
    history.create("/b", b"\xff\x00")  # 4
    for name in ("e", "f", "g"):
        history.create(f"/b/{name}", session=5)  # 5, 6, 7
    history.close_session(5)  # 8, 9, 10
    history.set("/a/c", b"1")  # 11
    history.set("/a/c", b"2")  # 12
    history.create("/a/d", b"life")  # 13
    history.delete("/a/d")  # 14
    history.delete("/b")  # 15
    history.create("/b", b"\xff\x00")  # 16
    history.set("/b", b"end")  # 17
    return history


def publish(**options: Any) -> tuple[History, Ideal]:
    """In sight but for changes 11 to 16."""
    history = write_history()
    ideal = Ideal(history.changes, **options)
    ideal.start(2)
    ideal.watch(11)
    ideal.miss(17)
    ideal.watch(18)
    return history, ideal
