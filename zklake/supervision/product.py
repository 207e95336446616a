"""The product over one cluster: its parts, followed by a supervisor."""

from __future__ import annotations

from collections.abc import Sequence

from zklake.supervision.part import ProductPart, Site
from zklake.supervision.supervisor import Supervisor


class Product:
    """The parts, launched one by one and then followed by a supervisor."""

    def __init__(self, site: Site, parts: Sequence[ProductPart], supervisor: Supervisor) -> None:
        """Nothing starts yet."""
        self.site = site
        self._parts = {part.name: part for part in parts}
        self._launched: set[str] = set()
        self._supervisor = supervisor

    def launch(self, name: str) -> None:
        """Start one part and do not wait for it."""
        part = self._parts[name]
        part.launch()
        self._launched.add(name)
        self._supervisor.follow(part, part.policy)

    def launch_rest(self) -> None:
        """Start every part that is not started yet."""
        for name in self._parts:
            if name not in self._launched:
                self.launch(name)

    def wait_ready(self, timeout_s: float = 600.0) -> str:
        """Wait until every part is; the dashboard is when it has data. Returns its address."""
        self._supervisor.wait_ready(list(self._parts), timeout_s)
        return f"{self._parts['dashboard'].url}/"

    def close(self) -> None:
        """Stop what was started, all at once."""
        for part in self._parts.values():
            part.ask_to_stop()
        for part in self._parts.values():
            part.stop()
