"""`zklake …`, but the process dies by kill -9 the n-th time it passes the named step."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from watcher.log.publisher import Publisher
from watcher.log.sender import Sender
from watcher.recursive_watch import RecursiveWatch

# step -> (class, method, die before or after it)
STEPS: dict[str, tuple[type, str, str]] = {
    "event_received": (RecursiveWatch, "apply_event", "after"),
    "value_read": (RecursiveWatch, "apply_value", "after"),
    "produced": (Sender, "send", "after"),
    "before_commit": (Publisher, "_commit", "before"),
    "after_commit": (Publisher, "_commit", "after"),
    "mid_scan": (RecursiveWatch, "apply_children", "after"),
}


def plant(step: str, passes: int) -> None:
    owner, name, moment = STEPS[step]
    original: Callable[..., Any] = getattr(owner, name)
    left = passes

    def dying(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **kwargs)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying)


if __name__ == "__main__":
    plant(sys.argv[1], int(sys.argv[2]))
    del sys.argv[1:3]
    from zklake.cli.main import main

    main()
