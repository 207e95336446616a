"""The values to erase: in which spellings they may stand, and what stands in their place. Pure.

The form is that of redaction (zklake/events/redaction.py): a text inside JSON becomes the mask,
data that is no JSON is withheld whole, and the event says `redacted`.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from zklake.errors import SettingsError
from zklake.events.credentials import MASK, write_json

# A shorter one would be found inside other texts, and those would be masked, too.
SHORTEST = 6
# The event is JSON, its data may be, and so may be a text in that.
_DEPTH = 3
_DATA = ("data", "data_b64", "data_zlib_b64")
# What may spell a letter otherwise, or hold it packed: only such a record is looked into.
_VEILS = (b"\\u", b"\\/", b"_b64")


class SecretValues:
    """Some values, and how they are found and masked."""

    def __init__(self, values: Iterable[str]) -> None:
        chosen = {value for value in values if value != MASK}
        if any(len(value) < SHORTEST for value in chosen):
            raise SettingsError(
                f"a value to erase has fewer than {SHORTEST} characters: it would be found inside "
                "other texts, and those would be masked, too"
            )
        spellings = {spelling for value in chosen for spelling in _spell(value)}
        # The longest first: one may be a part of another.
        self.spellings = tuple(sorted(spellings, key=lambda text: (-len(text), text)))
        self._raw = tuple(text.encode(errors="surrogatepass") for text in self.spellings)
        self.count = len(chosen)

    def occur_in(self, text: str) -> bool:
        """Whether one of them stands in a text."""
        return any(spelling in text for spelling in self.spellings)

    def occur_in_bytes(self, raw: bytes) -> bool:
        """Whether one of them stands in bytes, as they are."""
        return any(spelling in raw for spelling in self._raw)

    def occur_in_record(self, raw: bytes | None) -> bool:
        """Whether one of them stands in a record of the log, also packed or escaped."""
        if not raw:
            return False
        if self.occur_in_bytes(raw):
            return True
        return any(veil in raw for veil in _VEILS) and self.mask_record(raw) != raw

    def mask_record(self, raw: bytes) -> bytes:
        """A record of the log, or what was sent for one, without them."""
        try:
            event = json.loads(raw)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            masked = self.mask_event(event)
            return raw if masked == event else write_json(masked)
        for spelling in self._raw:
            raw = raw.replace(spelling, MASK.encode())
        return raw

    def mask_event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """An event by the names of the wire: its data as redaction would have left it."""
        masked = {
            name: value if name in _DATA else self.mask_names(value)
            for name, value in event.items()
        }
        if any(self._mask_data(masked, name) for name in _DATA):
            masked["fidelity"] = "redacted"
        return masked

    def mask_names(self, value: Any) -> Any:
        """Texts at any depth, with the mask in the place of each occurrence."""
        match value:
            case str():
                for spelling in self.spellings:
                    value = value.replace(spelling, MASK)
                return value
            case bytes():
                return self.mask_record(value)
            case dict():
                return {self.mask_names(key): self.mask_names(one) for key, one in value.items()}
            case list():
                return [self.mask_names(one) for one in value]
            case tuple():
                return tuple(self.mask_names(one) for one in value)
        return value

    def _mask_data(self, event: dict[str, Any], name: str) -> bool:
        """Mask one field of data; whether there was anything to mask."""
        held = event.get(name)
        if not isinstance(held, str):
            return False
        kept = self.mask_text(held) if name == "data" else self._keep_packed(name, held)
        if kept == held:
            return False
        if kept is None:
            event.pop(name)
        else:
            event[name] = kept
        return True

    def mask_text(self, text: str) -> str | None:
        """A znode's data: JSON with masked members; None where it is no JSON and is withheld."""
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            tree = None
        if isinstance(tree, dict | list):
            kept = self._mask_tree(tree)
            return text if kept == tree else write_json(kept).decode()
        return None if self.occur_in(text) else text

    def _mask_tree(self, value: Any) -> Any:
        match value:
            case dict():
                return {self.mask_names(key): self._mask_tree(one) for key, one in value.items()}
            case list():
                return [self._mask_tree(one) for one in value]
            case str():
                # As redaction does: the whole text, not a part of it.
                return value if self.mask_text(value) == value else MASK
        return value

    def _keep_packed(self, name: str, packed: str) -> str | None:
        try:
            data = base64.b64decode(packed)
            data = zlib.decompress(data) if name == "data_zlib_b64" else data
        except (binascii.Error, ValueError, zlib.error):
            return None if self.occur_in(packed) else packed
        text = data.decode(errors="replace")
        # Packed data is large or no text: it is withheld whole.
        return packed if self.mask_text(text) == text and not self.occur_in_bytes(data) else None


def _spell(value: str) -> set[str]:
    """The value, as Kafka encodes it in a name, and inside JSON inside JSON."""
    spellings = {value, quote(value, safe="")}
    for _ in range(_DEPTH):
        escaped = (json.dumps(one, ensure_ascii=asc) for one in spellings for asc in (True, False))
        spellings = spellings | {text[1:-1] for text in escaped}
    return spellings
