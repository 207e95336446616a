"""The names of a cluster's two topics: the log, and the tree it has come to."""

from __future__ import annotations

from typing import NamedTuple


class Topics(NamedTuple):
    """The names of a cluster's topics."""

    events: str
    tree: str


def name_topics(cluster: str) -> Topics:
    """The names of a cluster's event topic and tree topic."""
    return Topics(events=f"zklake.{cluster}", tree=f"zklake.{cluster}.tree")
