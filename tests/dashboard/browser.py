"""Debian's Chromium, driven by Playwright; what a page must not do is caught while it is open."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    expect,
    sync_playwright,
)

expect.set_options(timeout=60_000)

# As root there is no sandbox; without the rest it looks for its maker's hosts at every start.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str:
    """Its path; on CI it is installed when it is missing, elsewhere the tests are skipped."""
    path = _find()
    if path is None and os.environ.get("CI"):
        _install()
        path = _find()
        assert path is not None, "apt-get installed no Chromium"
    if path is None:
        pytest.skip("NO BROWSER TESTS: Chromium is missing (Debian: apt-get install chromium)")
    return path


def _install() -> None:
    """By one worker at a time: apt-get refuses where another one is at work."""
    with (Path(tempfile.gettempdir()) / "zklake-tests-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _find() is None:
            for command in ("update", "install -y --no-install-recommends chromium"):
                # Somebody else's may be at work, too.
                apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=240", *command.split()]
                subprocess.run(apt, check=True, timeout=480)


def _find() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def launch() -> Iterator[Browser]:
    """A browser without a window."""
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Browser, address: str, *, width: int = 1280) -> Iterator[Page]:
    """A page of its own, in India; errors in its console and requests elsewhere fail the test."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, base_url=address, timezone_id="Asia/Kolkata"
    )
    # A machine that is busy is slow, and not wrong.
    context.set_default_timeout(120_000)
    page, wrong = context.new_page(), Wrong(urlsplit(address).netloc)
    page.on("console", wrong.note_line)
    page.on("pageerror", wrong.note_error)
    page.on("dialog", wrong.note_dialog)
    page.on("request", wrong.note_request)
    try:
        yield page
        assert wrong.found == []
    finally:
        context.close()


@contextmanager
def open_bare_page(browser: Browser) -> Iterator[Page]:
    """A page whose errors are the test's own affair; it has left its server when it is closed."""
    context = browser.new_context()
    try:
        page = context.new_page()
        yield page
        page.goto("about:blank")
    finally:
        context.close()


class Wrong:
    """What a page did that it must not."""

    def __init__(self, host: str) -> None:
        self._host, self.found = host, list[str]()

    def note_line(self, line: ConsoleMessage) -> None:
        self.found += [line.text] if line.type == "error" else []

    def note_error(self, error: Error) -> None:
        self.found.append(str(error))

    def note_dialog(self, dialog: Dialog) -> None:
        self.found.append(dialog.message)
        dialog.dismiss()

    def note_request(self, request: Request) -> None:
        self.found += [] if urlsplit(request.url).netloc == self._host else [request.url]
