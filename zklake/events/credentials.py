"""What looks like a credential, and how it is masked inside JSON. It knows no paths and no policy.

Masking errs on the closed side: JSON that can be read in two ways is not read at all.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

MASK = "[redacted]"

# Names of config keys and fields that hold credentials. Of Kafka's password-type configs (all
# names may carry a listener prefix) the store's place and type are harmless and worth a history.
_SECRET_KEY = re.compile(
    r"passw|passphrase|\bpass\b|pwd|secret|jaas|token|credential|scram|sasl\.|hmac|\bsalt\b"
    r"|(?:api|access|private|stored|server|encryption|master)[._ -]?key"
    r"|(?:key|trust)store(?!\.(?:location|type)$)",
    re.IGNORECASE | re.ASCII,
)
# Values that give themselves away whatever their key is called.
_SECRET_VALUE = re.compile(
    r"(?:password|passwd|pwd|secret|token|stored_key|server_key)\s*=|LoginModule|PRIVATE KEY"
    r"|://[^/\s:@]*:[^/\s@]*@",
    re.IGNORECASE | re.ASCII,
)
# A listener may be called TOKEN; what it maps to is no credential.
_HARMLESS = frozenset({"", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", MASK})
# Every match of the patterns above contains one of these; \u may spell any of them. Searched in
# lowered bytes: IGNORECASE costs twenty times as much.
_SUSPICIOUS = re.compile(
    rb"pass|pwd|secret|jaas|token|credential|scram|sasl\.|hmac|salt|key|truststore|loginmodule|@|\\u"
)


class Ambiguous(ValueError):
    """JSON with a key twice or a number that is none: parsers differ, and one might leak."""


def is_suspicious(data: bytes) -> bool:
    """A fast look: False means that masking would find nothing."""
    return _SUSPICIOUS.search(data.lower()) is not None


def parse_json(text: str) -> Any:
    """JSON read strictly; raises ValueError or RecursionError."""
    return json.loads(
        text,
        object_pairs_hook=_refuse_twins,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


def write_json(tree: Any) -> bytes:
    """JSON of a masked tree."""
    return json.dumps(tree, separators=(",", ":")).encode()


def mask(tree: Any, *, keep_numbers: bool) -> Any:
    """The tree with whatever looks like a credential, at any depth, replaced by MASK."""
    return _mask(tree, hidden=False, keep_numbers=keep_numbers)


def is_secret_value(text: str) -> bool:
    """Whether a value looks like a credential whatever it is called."""
    return _SECRET_VALUE.search(text) is not None


def _mask(value: Any, *, hidden: bool, keep_numbers: bool) -> Any:
    match value:
        case dict():
            return {
                MASK if is_secret_value(key) else key: _mask(
                    member,
                    hidden=hidden or _SECRET_KEY.search(key) is not None,
                    keep_numbers=keep_numbers,
                )
                for key, member in value.items()
            }
        case list():
            return [_mask(member, hidden=hidden, keep_numbers=keep_numbers) for member in value]
        case str():
            withheld = (hidden and value not in _HARMLESS) or is_secret_value(value)
            return MASK if withheld else value
        case bool() | None:
            return value
    return MASK if hidden and not keep_numbers else value


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Ambiguous("a key stands twice")
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_constant(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise Ambiguous("not a number")
