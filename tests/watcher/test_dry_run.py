"""`--dry-run` writes nothing anywhere, and ends when nobody reads on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.watcher.log.writing import make_batch
from watcher.assembly import build_daemon
from watcher.hash_key import default_path, load_hash_key
from watcher.log.publisher import GaveUp
from watcher.outlet import PrintedLog
from zklake.settings.load import load_settings


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_no_key_is_left_behind(state: Path) -> None:
    build_daemon(load_settings(), dry_run=True, once=True)
    assert list(state.iterdir()) == []
    build_daemon(load_settings(), once=True)
    assert default_path().exists()


def test_a_key_that_is_there_is_used() -> None:
    kept = load_hash_key(None)
    assert load_hash_key(None, keeps=False) == kept


def test_a_reader_that_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    # Unbuffered: nothing is left to be flushed when it is closed.
    with os.fdopen(write_end, "wb", buffering=0) as raw:

        class Pipe:
            def write(self, text: str) -> None:
                raw.write(text.encode())

            def flush(self) -> None:
                pass

        monkeypatch.setattr("sys.stdout", Pipe())
        with pytest.raises(GaveUp):
            PrintedLog().publish(make_batch(1))
