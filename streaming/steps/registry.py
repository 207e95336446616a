"""Every step table: which events the driver must follow for it, and how it is folded.

They are folded in this order; log_gaps comes first, for the others ask it what a gap hid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from streaming.steps import admin_operations, config_history, controller, log_gaps
from streaming.steps.row import Row
from streaming.steps.surroundings import Place, Surroundings
from zklake.events.envelope import Event


@dataclass(frozen=True)
class Step:
    """One step table. `fold`: open rows and events -> open rows, and those that just ended."""

    name: str
    fold: Callable[[Sequence[Row], Iterable[Event], Surroundings], list[Row]]
    kinds: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()

    def concerns(self, event: Event, around: Surroundings) -> bool:
        """Whether the table must follow an event."""
        place: Place = (event.cluster, event.seq)
        return (
            event.op in self.ops
            or event.kind in self.kinds
            or (bool(self.kinds) and place in around.closures)
        )


STEPS: tuple[Step, ...] = (
    Step("log_gaps", log_gaps.fold_log_gaps, ops=log_gaps.OPS),
    Step("controller", controller.fold_controller, kinds=controller.KINDS),
    Step(
        "admin_operations",
        admin_operations.fold_admin_operations,
        kinds=admin_operations.KINDS,
        ops=admin_operations.OPS,
    ),
    Step("config_history", config_history.fold_config_history, kinds=config_history.KINDS),
)
