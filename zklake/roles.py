"""What somebody may do at the dashboard: a viewer sees every page, an analyst may also ask SQL."""

from __future__ import annotations

from typing import Literal

Role = Literal["viewer", "analyst"]
# The later, the more it may.
ROLES: tuple[Role, ...] = ("viewer", "analyst")


def is_enough(role: Role, wanted: Role) -> bool:
    """Whether who has one role may do what another one is wanted for."""
    return ROLES.index(role) >= ROLES.index(wanted)
