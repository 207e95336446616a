"""Scripted histories of a real cluster, each with its ground truth; see docs/stories.md."""

from __future__ import annotations

from lab.stories.catalog import STORIES, find_story
from lab.stories.running import BROKER_SETTINGS, run_all, run_story
from lab.stories.truth import Fact, read_truth

__all__ = [
    "BROKER_SETTINGS",
    "STORIES",
    "Fact",
    "find_story",
    "read_truth",
    "run_all",
    "run_story",
]
