"""Kinds that Kafka never had: what the recipe in CONTRIBUTING.md asks for, in one file.

test_recipe.py puts it into a copy of the product as zklake/events/payloads/toy.py.
"""

from __future__ import annotations

from zklake.events.kind import Kind, Sample
from zklake.events.payloads.reading import Document, Int32, Payload, Unreadable


class Toy(Payload, frozen=True, kw_only=True):
    """A toy and how many wheels it has."""

    wheels: Int32


_TOY = Document(Toy, {1: ()})


def decode_toy(data: bytes | None) -> Toy | Unreadable:
    """What a toy's znode says."""
    return _TOY.read(data)


KINDS = (
    Kind(
        "toy",
        "/toys/[toy]",
        "none",
        "a toy, and how many wheels it has",
        decode_toy,
        (Sample("none", b'{"version":1,"wheels":4}'),),
    ),
    Kind(
        "player",
        "/players/[player]",
        "none",
        "somebody who plays, as long as the session lasts",
        mode="ephemeral",
    ),
)
