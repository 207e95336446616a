"""What is asked of the process that holds the tables, as it goes over a socket of its own.

Each question is one frame of JSON; its answer are frames (delta_tables/asking/messages.py).
"""

from __future__ import annotations

import msgspec

from delta_tables.live.snapshot import Asking, State


class Look(msgspec.Struct, frozen=True, tag="look"):
    """Which versions there are."""

    anew: bool = False


class ListFiles(msgspec.Struct, frozen=True, tag="files"):
    """Which files a table has."""

    name: str
    state: State


class Run(msgspec.Struct, frozen=True, tag="run"):
    """A query."""

    asking: Asking


Question = Look | ListFiles | Run
# The kind of the frame that a question comes in.
ASKED = b"Q"
# What the process says when it has started.
READY = b"!"
