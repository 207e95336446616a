"""What somebody asked Burrow, and an answer in Burrow's form. Knows no address."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dashboard.dialects.burrow.sight import LakeView
from dashboard.options import Options

Body = dict[str, Any]


class BurrowAnswer(NamedTuple):
    """An HTTP status, and what every body has: whether it failed, a message, the rest."""

    status: int
    message: str
    body: Mapping[str, Any]
    is_error: bool = False

    def write(self, path: str) -> Body:
        """The whole body, for that address."""
        request = {"url": path, "host": socket.gethostname()}
        return {"error": self.is_error, "message": self.message, **self.body, "request": request}


@dataclass(frozen=True)
class Question:
    """The names in the address, in its order, and where to look."""

    names: tuple[str, ...]
    sight: LakeView
    options: Options
    # host:port of the server that was asked.
    server: str

    @property
    def is_known_cluster(self) -> bool:
        """Whether the first name is our cluster."""
        return self.names[0] == self.options.cluster


def say(message: str, /, **body: Any) -> BurrowAnswer:
    """What was asked for."""
    return BurrowAnswer(200, message, body)


def refuse(status: int, message: str) -> BurrowAnswer:
    """Why not."""
    return BurrowAnswer(status, message, {}, is_error=True)


# What Burrow says of an address that it does not have.
UNKNOWN = BurrowAnswer(404, "invalid request type", {"result": {}}, is_error=True)
