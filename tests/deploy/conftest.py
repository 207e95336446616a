"""The dashboard's story, as a lake for the questions of the runbooks."""

from __future__ import annotations

import pytest

from tests.dashboard.story_lake import write_story


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("story"))
    write_story(path)
    return path
