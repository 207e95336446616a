"""The key of the hash that stands for withheld data: made once per installation, kept private."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from zklake.errors import SettingsError


def load_hash_key(given: Path | None, *, keeps: bool = True) -> bytes:
    """The key in the file of the settings, or our own, made at the first start.

    Where nothing may be kept, a key that is not there yet is one for this run only.
    """
    if given is not None:
        return _read(given)
    path = default_path()
    if not path.exists():
        if not keeps:
            return secrets.token_hex(32).encode()
        _make(path)
    return _read(path)


def default_path() -> Path:
    """Where our own key lies: in the user's state directory."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "zklake" / "hash.key"


def _read(path: Path) -> bytes:
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise SettingsError(
            f"the hash key {path} cannot be read ({error.strerror}): "
            "make it readable for this user, or set watcher.hash_key_file"
        ) from error
    if not key:
        raise SettingsError(f"the hash key {path} is empty: put 32 random bytes or more into it")
    return key


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Linked into place: of two watchers starting at once both get the same key.
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(32).encode())
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    except OSError as error:
        raise SettingsError(
            f"the hash key {path} cannot be made ({error.strerror}): set watcher.hash_key_file"
        ) from error
