"""How the old consumer creates: the znode first, its parents only when that fails."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kazoo.exceptions import NodeExistsError, NoNodeError


def create_znode(
    client: Any,
    path: str,
    data: bytes | None,
    *,
    ephemeral: bool = False,
    parent_data: bytes | None = None,
) -> None:
    """Create; `parent_data` is null as zkclient wrote it, or empty as ZKCheckedEphemeral did."""
    try:
        client.create(path, data, ephemeral=ephemeral)
    except NoNodeError:
        _create_parents(client, path, parent_data)
        client.create(path, data, ephemeral=ephemeral)


def _create_parents(client: Any, path: str, data: bytes | None) -> None:
    parent = path.rpartition("/")[0]
    if not parent:
        return
    try:
        client.create(parent, data)
    except NodeExistsError:
        return
    except NoNodeError:
        _create_parents(client, parent, data)
        with suppress(NodeExistsError):
            client.create(parent, data)
