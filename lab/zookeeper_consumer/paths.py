"""Where the old consumer's znodes stand."""

from __future__ import annotations

BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"


def ids_dir(group: str) -> str:
    """The registry of members."""
    return f"/consumers/{group}/ids"


def owners_dir(group: str, topic: str) -> str:
    """Who owns which partition of a topic."""
    return f"/consumers/{group}/owners/{topic}"


def offsets_dir(group: str, topic: str) -> str:
    """How far the group has read a topic."""
    return f"/consumers/{group}/offsets/{topic}"


def topic_path(topic: str) -> str:
    """A topic's assignment."""
    return f"{TOPICS}/{topic}"
