"""Scripted histories of a real cluster, each with its ground truth; docs/stories.md tells them."""

from __future__ import annotations

from lab.stories.catalog import STORIES, find_story
from lab.stories.telling import BROKER_SETTINGS, tell_all, tell_story
from lab.stories.truth import Fact, read_truth

__all__ = [
    "BROKER_SETTINGS",
    "STORIES",
    "Fact",
    "find_story",
    "read_truth",
    "tell_all",
    "tell_story",
]
