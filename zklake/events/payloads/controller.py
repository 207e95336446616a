"""/controller and /controller_epoch: which broker rules, and for the how-manieth time."""

from __future__ import annotations

import msgspec

from zklake.events.kind import Kind, Sample
from zklake.events.payloads.reading import (
    Document,
    Int32,
    Payload,
    Stamped,
    Unreadable,
    read_decimal,
)


class Controller(Stamped, frozen=True, kw_only=True):
    """The controller. In a KRaft migration the id is no broker's and the znode is persistent."""

    controller_id: Int32 = msgspec.field(name="brokerid")
    # -1: a ZooKeeper controller.
    kraft_controller_epoch: Int32 = msgspec.field(default=-1, name="kraftControllerEpoch")


class ControllerEpoch(Payload, frozen=True, kw_only=True):
    """The fencing token of controllers."""

    controller_epoch: Int32


_CONTROLLER = Document(Controller, {1: (), 2: ("kraftControllerEpoch",)})


def decode_controller(data: bytes | None) -> Controller | Unreadable:
    """A controller of any release; before 0.8.0 it was a bare broker id."""
    broker_id = read_decimal(data, 0, 2**31 - 1)
    if isinstance(broker_id, Unreadable):
        return broker_id if broker_id.reason == "out_of_range" else _CONTROLLER.read(data)
    return Controller(controller_id=broker_id)


def decode_controller_epoch(data: bytes | None) -> ControllerEpoch | Unreadable:
    """The epoch as a bare number."""
    epoch = read_decimal(data, 0, 2**31 - 1)
    return epoch if isinstance(epoch, Unreadable) else ControllerEpoch(controller_epoch=epoch)


KINDS = (
    Kind(
        "controller",
        "/controller",
        "0.8-3.9",
        "the ruling controller; persistent while a KRaft controller holds it",
        decode_controller,
        (
            Sample("before 0.8.0", b"2"),
            Sample("0.8-3.3", b'{"version":1,"brokerid":2,"timestamp":"1794793622686"}'),
            Sample(
                "3.4-3.9",
                b'{"version":2,"brokerid":2,"timestamp":"1794793622686","kraftControllerEpoch":-1}',
            ),
            Sample(
                "3.4-3.9, migration",
                b'{"version":2,"brokerid":3000,"timestamp":"1794793622686",'
                b'"kraftControllerEpoch":5}',
            ),
        ),
        mode="ephemeral",
    ),
    Kind(
        "controller_epoch",
        "/controller_epoch",
        "0.8-3.9",
        "how many controllers there have been",
        decode_controller_epoch,
        (Sample("2.1-3.9, at birth", b"0"), Sample("0.8-3.9", b"42")),
    ),
)
