"""What is wrong or worth knowing about a file of ZooKeeper's: where, what it means, what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zklake.errors import ZklakeError


class TxnLogError(ZklakeError):
    """ZooKeeper's files cannot be read at all, or do not belong together."""


class FileFinding(NamedTuple):
    """One thing found in the files; reading goes on."""

    place: str
    says: str
    # Whether history may be missing because of it.
    is_loss: bool = False

    def list_figures(self) -> dict[str, object]:
        """As JSON has it."""
        return {"place": self.place, "says": self.says, "loss": self.is_loss}

    def __str__(self) -> str:
        return f"{self.place}: {self.says}"


Report = Callable[[FileFinding], None]
