from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lab.stories import STORIES, read_truth

COMMAND = [sys.executable, "-m", "zklake", "lab", "story"]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=False)


def test_the_stories_are_listed() -> None:
    listed = run("--list")
    assert listed.returncode == 0
    lines = listed.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [story.name for story in STORIES]
    assert json.loads(run("--list", "--json").stdout) == {s.name: s.sentence for s in STORIES}


def test_an_unknown_story_is_refused_before_anything_starts() -> None:
    refused = run("night")
    assert refused.returncode == 5
    assert "no story is called 'night': choose one of quiet-day" in refused.stderr
    assert "starting" not in refused.stderr


@pytest.mark.e2e
def test_a_story_prints_its_truth_and_writes_it_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "truth.jsonl"
    told = run("preferred-election", "--seed=3", "--speed=50", "--json", f"--truth={file}")
    assert told.returncode == 0, told.stderr
    assert told.stdout == file.read_text()
    facts = list(read_truth(file.read_text().splitlines()))
    assert {fact.seed for fact in facts} == {3}
    assert [fact.fact for fact in facts].count("preferred_elected") == 2
