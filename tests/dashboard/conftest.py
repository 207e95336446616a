"""One lake with the story for all tests that only look, and a browser's way to ask for a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from dashboard.app import build_app
from dashboard.options import Options
from tests.dashboard.serving import serve
from tests.dashboard.story_lake import CLUSTER, write_story

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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


@pytest.fixture(scope="module")
def address(lake: str) -> Iterator[str]:
    """A real server over the story, whatever its age."""
    with serve(Options(lake, CLUSTER, stale_after_s=100_000)) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; installed where it is missing, so only who asks for it loads it."""
    from tests.dashboard.browser import launch

    with launch() as browser:
        yield browser


@pytest.fixture(scope="session")
def empty_client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Nobody has written that lake yet."""
    missing: Path = tmp_path_factory.mktemp("empty") / "nothing"
    return open_client(Options(str(missing), CLUSTER))


def open_client(options: Options) -> TestClient:
    return TestClient(build_app(options).asgi, base_url=ADDRESS)
