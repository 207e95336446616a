"""A znode as the step tables meet it: which life an event speaks of, what it says. Pure."""

from __future__ import annotations

from typing import Any

from streaming.decoding import read_payload
from streaming.sights import State, is_touch, read_state
from zklake.events.envelope import Event
from zklake.events.payloads.reading import Payload

_STATES = ("create", "set", "read")


def is_state(event: Event) -> bool:
    """The event tells a state of the znode."""
    return event.op in _STATES and not is_touch(event)


def read_life(event: Event, czxid: int | None) -> State:
    """The state that an event tells; `czxid`: that of the life that stands, if any is known."""
    state = read_state(event)
    return state if state.czxid is not None else state._replace(czxid=czxid)


def tell_life(state: State) -> dict[str, Any]:
    """The columns of a row that tell which state of the znode began it."""
    return {
        "czxid": state.czxid,
        "znode_version": state.version,
        "fidelity": state.fidelity,
    }


def is_new_life(event: Event, czxid: int | None) -> bool:
    """Whether a state, told of a znode that stands, belongs to another life than that one."""
    told = read_state(event).czxid
    return event.op == "create" or (None not in (told, czxid) and told != czxid)


def read_value(event: Event, empty: Payload | None = None) -> tuple[Payload | None, str | None]:
    """(what a state says, None), or (None, why that is not known; None: there is no data).

    `empty`: what it says by having no data, where it is known that there is none.
    """
    payload, error = read_payload(event)
    if payload is not None or error is not None:
        return payload, error
    is_absent = event.data is None and event.data_b64 is None and event.data_zlib_b64 is None
    return (None if is_absent and event.fidelity != "exact" else empty), None
