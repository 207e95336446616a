"""One lake with the story for all tests that only look, and a browser's way to ask for a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboard.app import build_app
from dashboard.options import Options
from tests.dashboard.story_lake import CLUSTER, write_story

# Hosts are checked: TestClient's own would be refused.
ADDRESS = "http://127.0.0.1"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A story that ends now: one for the whole run would lie too far back for the last files."""
    path = str(tmp_path_factory.mktemp("story"))
    write_story(path)
    return path


@pytest.fixture(scope="module")
def client(lake: str) -> TestClient:
    return open_client(Options(lake, CLUSTER))


@pytest.fixture(scope="session")
def empty_client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Nobody has written that lake yet."""
    missing: Path = tmp_path_factory.mktemp("empty") / "nothing"
    return open_client(Options(str(missing), CLUSTER))


def open_client(options: Options) -> TestClient:
    return TestClient(build_app(options).asgi, base_url=ADDRESS)
