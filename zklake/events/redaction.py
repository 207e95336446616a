"""What of a znode may leave the process: an allow-list by kind, decided before anything is written.

Pure: no I/O, no logging. Whatever is withheld leaves a keyed hash behind, so that changes show.
`publish_paths` opens kinds that are metadata only, `publish_config_keys` further keys of configs;
credentials stay masked whatever is opened.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from zklake.credential_signs import is_secret_value
from zklake.errors import SettingsError
from zklake.events.config_redaction import ConfigRedaction
from zklake.events.credentials import (
    MASK,
    is_suspicious,
    mask,
    parse_json,
    write_json,
)
from zklake.events.kind import Kind
from zklake.events.kinds import KIND_BY_NAME, UNKNOWN
from zklake.events.path_globs import PathGlobs
from zklake.events.payloads.config import decode_config_change
from zklake.events.payloads.consumer import escape_backslashes
from zklake.events.payloads.reading import Unreadable

# Token ids stand here as names; id and one leaked key give the token's HMAC.
TOKENS = "/delegation_token/tokens/"
# The dots: below a path that is too long (watcher/long_paths.py).
_SEALED_NAME = re.compile(r"(?:\.\.\.)?~[0-9a-f]{16}")

# Entities whose names are no persons'.
_NAMED_OPENLY = frozenset({"topics", "clients", "brokers", "ips"})


class Sealed(NamedTuple):
    """What may be published. The hash is that of the true data."""

    data: bytes | None
    fidelity: Literal["exact", "redacted"]
    data_hash: str


class Redactor:
    """The policy with the settings of one installation. redact_paths wins over publish_paths."""

    def __init__(
        self,
        key: bytes,
        publish_paths: Iterable[str] = (),
        redact_paths: Iterable[str] = (),
        publish_config_keys: Iterable[str] = (),
    ) -> None:
        if not key:
            raise SettingsError("the redaction key is empty: hashes of secrets could be guessed")
        # BLAKE2 takes keys of up to 64 bytes; this makes one of any length.
        self._key = hashlib.blake2b(key).digest()
        self._publish = PathGlobs(publish_paths)
        self._redact = PathGlobs(redact_paths)
        keep_config = ConfigRedaction(publish_config_keys).keep
        self._rules = _RULES | dict.fromkeys(("config", "user"), (keep_config, keep_config))

    def seal(self, path: str, kind: str, data: bytes | None) -> Sealed:
        """The part of a znode's data that may be published."""
        data_hash = self.hash_data(data)
        if not data:
            return Sealed(data, "exact", data_hash)
        kept = None if self._redact.holds(path) else self._keep(path, kind, data)
        return Sealed(kept, "exact" if kept == data else "redacted", data_hash)

    def seal_path(self, path: str) -> str:
        """The path as it may be published: a token's id becomes a keyed hash. Idempotent."""
        if not path.startswith(TOKENS):
            return path
        return TOKENS + "/".join(self._seal_name(name) for name in path[len(TOKENS) :].split("/"))

    def hash_data(self, data: bytes | None) -> str:
        """16 hex digits: equal for equal data, and they reveal nothing else."""
        return hashlib.blake2b(data or b"", key=self._key, digest_size=8).hexdigest()

    def hash_name(self, name: str) -> str:
        """16 hex digits that stand for a name."""
        raw = name.encode(errors="surrogatepass")
        return hashlib.blake2b(raw, key=self._key, digest_size=8, person=b"path").hexdigest()

    def _seal_name(self, name: str) -> str:
        if not name or _SEALED_NAME.fullmatch(name):
            return name
        return "~" + self.hash_name(name)

    def _keep(self, path: str, name: str, data: bytes) -> bytes | None:
        kind = KIND_BY_NAME.get(name, UNKNOWN)
        closed, opened = self._rules[kind.sensitivity]
        if kind is UNKNOWN and path.startswith(TOKENS):
            return None
        rule = opened if self._publish.holds(path) else closed
        try:
            return rule(kind, data)
        except RecursionError:
            # Masking needs more stack than parsing did.
            return None


def _withhold(kind: Kind, data: bytes) -> bytes | None:
    return None


def _keep_open(kind: Kind, data: bytes) -> bytes | None:
    """Known data: numbers stay, for names of topics and listeners stand as keys here."""
    if not is_suspicious(data):
        return data
    tree = _parse(data)
    if tree is not None:
        return _masked(data, tree, mask(tree, keep_numbers=True))
    # Text forms of old releases hold names of groups and hosts, and nothing else.
    is_text = data.lstrip()[:1] not in (b"{", b"[", b'"')
    if not is_text or isinstance(kind.decode(data), Unreadable):
        return None
    return None if is_secret_value(data.decode()) else data


def _keep_opened(kind: Kind, data: bytes) -> bytes | None:
    """Data of unknown make that somebody opened."""
    return _keep_masked(kind, data) if is_suspicious(data) else data


def _keep_masked(kind: Kind, data: bytes) -> bytes | None:
    tree = _parse(data)
    return None if tree is None else _masked(data, tree, mask(tree, keep_numbers=False))


def _keep_change(kind: Kind, data: bytes) -> bytes | None:
    change, tree = decode_config_change(data), _parse(data)
    if isinstance(change, Unreadable) or tree is None:
        return None
    entity_type, _, name = change.entity_path.partition("/")
    if entity_type not in _NAMED_OPENLY:
        entity_type, name = ("users" if entity_type == "users" else MASK), MASK
    match change.version:
        case 0:
            kept: Any = name
        case 1:
            kept = {"version": 1, "entity_type": entity_type, "entity_name": name}
        case _:
            kept = {"version": change.version, "entity_path": f"{entity_type}/{name}"}
    return _masked(data, tree, kept)


def _parse(data: bytes) -> Any:
    """JSON, also with the raw backslashes of 0.8.0-0.8.1; None when it cannot be read."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    # A \u in text that is no JSON might spell a word that masking would then not see.
    candidates = (text,) if r"\u" in text else (text, escape_backslashes(text))
    for candidate in candidates:
        try:
            return parse_json(candidate)
        except (ValueError, RecursionError):
            continue
    return None


def _masked(data: bytes, tree: Any, kept: Any) -> bytes:
    return data if kept == tree else write_json(kept)


_Rule = Callable[[Kind, bytes], bytes | None]

# By sensitivity: the rule, and the rule where publish_paths opens the path. Those of configs hang
# on the settings and stand in config_redaction.py.
_RULES: dict[str, tuple[_Rule, _Rule]] = {
    "open": (_keep_open, _keep_open),
    "empty": (_withhold, _keep_opened),
    "change": (_keep_change, _keep_open),
    "sealed": (_withhold, _keep_opened),
    "token": (_withhold, _keep_masked),
    "secret": (_withhold, _withhold),
}
