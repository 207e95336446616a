"""Something with a beginning and an end, held by `with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Startable(ABC):
    """Something that `with` starts and ends, also when the start itself fails or is interrupted."""

    @abstractmethod
    def start(self) -> None:
        """Start, and wait until it can be used."""

    @abstractmethod
    def close(self) -> None:
        """End it for good."""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
