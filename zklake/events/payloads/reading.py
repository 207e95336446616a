"""How bytes of a znode become a value, or a reason why not. Nothing here ever raises on data.

It knows JSON and decimals; what the fields mean stands in the families' own files. No reason and
no detail repeats what the bytes say: they may be secret, and reasons travel into logs and tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Generic, Literal, TypeVar

import msgspec

Reason = Literal[
    "no_data",  # null or empty, where this kind must say something
    "unexpected_data",  # data on a znode that carries none
    "not_utf8",  # the bytes are no text
    "not_json",  # the text is no JSON
    "not_a_number",  # the text is no bare decimal
    "not_recognised",  # text of none of the forms that Kafka ever wrote here
    "wrong_type",  # a field holds another type than Kafka writes
    "missing_field",  # a field without which the value means nothing is absent
    "unknown_version",  # a version of the JSON that this release does not know
    "out_of_range",  # a number that does not fit Kafka's own type
    "too_deep",  # nested deeper than any value of Kafka's
]

# Kafka's ids of brokers and partitions are Java's int.
LARGEST_INT = 2**31 - 1
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=LARGEST_INT)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
PartitionId = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_INT)]
DecimalString = Annotated[str, msgspec.Meta(pattern=r"\A-?[0-9]{1,18}\Z")]
# Kafka writes timestamps as decimal strings; clients of other makers wrote numbers.
Millis = Int64 | DecimalString


class Unreadable(msgspec.Struct, frozen=True):
    """Data that could not be read, and why."""

    reason: Reason
    detail: str = ""


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What a znode's data says. `version` is the JSON's; 0 stands for forms older than JSON."""

    version: int = 0


class Stamped(Payload, frozen=True, kw_only=True):
    """A payload with its writer's clock; Stat's ctime and mtime are the server's, and better."""

    timestamp: Millis | None = None

    @property
    def timestamp_ms(self) -> int | None:
        """The timestamp as a number."""
        return None if self.timestamp is None else int(self.timestamp)


class Empty(Payload, frozen=True):
    """No data, on a znode that is meant to carry none."""


P = TypeVar("P", bound=msgspec.Struct)


_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_version = msgspec.json.Decoder(int | str)
_DECIMAL = re.compile(r"-?[0-9]{1,19}")
# The only parts of msgspec's messages that are ours or JSON's, never the data's.
_FIELD = re.compile(r"`(\$[\w.\[\]]*)`$")
_MISSING = re.compile(r"missing required field `(\w+)`")
_BYTE = re.compile(r"\(byte (\d+)\)")

UNREADABLE_ERRORS = (UnicodeDecodeError, msgspec.DecodeError, RecursionError)


def explain(error: Exception) -> Unreadable:
    """Turn one of UNREADABLE_ERRORS into a reason, without repeating the data."""
    match error:
        case UnicodeDecodeError():
            return Unreadable("not_utf8", f"at byte {error.start}")
        case RecursionError():
            return Unreadable("too_deep")
        case msgspec.ValidationError():
            return _explain_validation(str(error))
    byte = _BYTE.search(str(error))
    return Unreadable("not_json", f"at byte {byte[1]}" if byte else "ends too early")


def _explain_validation(message: str) -> Unreadable:
    if missing := _MISSING.search(message):
        return Unreadable("missing_field", missing[1])
    field = _FIELD.search(message)
    where = field[1] if field else "$"
    if " <= " in message or " >= " in message or "out of range" in message:
        return Unreadable("out_of_range", where)
    return Unreadable("wrong_type", where)


def read_text(data: bytes | None) -> str | Unreadable:
    """The data as text."""
    if not data:
        return Unreadable("no_data")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return explain(error)


class Document(Generic[P]):
    """A kind of JSON document: its type, and by version the fields it must then have."""

    def __init__(self, payload: type[P], versions: Mapping[int | str, tuple[str, ...]]) -> None:
        self._decoder = msgspec.json.Decoder(payload)
        self._versions = versions

    def read(self, data: bytes | str | None) -> P | Unreadable:
        """The data as such a document. The version is judged before anything else is."""
        if not data:
            return Unreadable("no_data")
        try:
            text = data.decode() if isinstance(data, bytes) else data
            value = self._decode(text)
            version = getattr(value, "version", 0)
            if value is not None and version and self._versions.get(version) == ():
                return value  # nothing else must be there, as in almost all
            return self._refuse(_members.decode(text)) or value or self._decoder.decode(text)
        except UNREADABLE_ERRORS as error:
            return explain(error)

    def _decode(self, text: str) -> P | None:
        """The document, if it can be one of any version."""
        try:
            return self._decoder.decode(text)
        except UNREADABLE_ERRORS:
            return None

    def _refuse(self, members: dict[str, msgspec.Raw]) -> Unreadable | None:
        if "version" not in members:
            return Unreadable("missing_field", "version")
        try:
            version = _version.decode(members["version"])
        except msgspec.ValidationError:
            return Unreadable("wrong_type", "$.version")
        required = self._versions.get(version)
        if required is None and type(version) not in map(type, self._versions):
            return Unreadable("wrong_type", "$.version")
        if required is None:
            known = ", ".join(repr(known) for known in self._versions)
            return Unreadable("unknown_version", f"known: {known}")
        missing = [name for name in required if name not in members]
        return Unreadable("missing_field", missing[0]) if missing else None


def read_decimal(data: bytes | None, lowest: int, highest: int) -> int | Unreadable:
    """The data as a bare decimal, as Kafka writes epochs and offsets."""
    text = read_text(data)
    if isinstance(text, Unreadable):
        return text
    if not _DECIMAL.fullmatch(text):
        digits = text.removeprefix("-")
        huge = digits.isascii() and digits.isdecimal()
        return Unreadable("out_of_range" if huge else "not_a_number")
    number = int(text)
    return number if lowest <= number <= highest else Unreadable("out_of_range")


def read_number(text: str) -> int | None:
    """A number in a path as a row knows it: 07 is 7. None: it is none, or beyond an INT."""
    # Python refuses to read some thousand digits, and a znode's name may have more.
    if not (text.isascii() and text.isdecimal()) or len(digits := text.lstrip("0")) > 10:
        return None
    number = int(digits or "0")
    return number if number <= LARGEST_INT else None


def decode_empty(data: bytes | None) -> Empty | Unreadable:
    """A directory, or another znode whose mere existence says it all."""
    return Unreadable("unexpected_data") if data else Empty()
