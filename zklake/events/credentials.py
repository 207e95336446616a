"""What looks like a credential, and how it is masked inside JSON. It knows no paths and no policy.

Masking errs on the closed side: JSON that can be read in two ways is not read at all.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from zklake.credential_signs import is_secret_value

MASK = "[redacted]"

# Names of fields that hold credentials, where a deny-list must do: configs have an allow-list.
_SECRET_KEY = re.compile(
    r"passw|passphrase|\bpass\b|pwd|(?<![a-z])pw(?![a-z])|secret|jaas|token|credential|scram|sasl\."
    r"|hmac|\bsalt\b|bearer|\bauth[._-]|authorization|cookie|licen[cs]e|webhook"
    r"|(?:api|access|account|encryption|master|private|server|shared|signing|stored)[._ -]?key"
    r"|(?:key|trust)store(?!\.(?:location|type)$)",
    re.IGNORECASE | re.ASCII,
)
# A listener may be called TOKEN; what it maps to is no credential.
_HARMLESS = frozenset({"", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", MASK})
# Every match of the pattern above, and of is_secret_value's, contains one of these; \u may spell
# any of them. Searched in lowered bytes: IGNORECASE costs twenty times as much. Few first letters,
# and rare ones (`uth` for auth): each znode's data pays for them.
_SUSPICIOUS = re.compile(
    rb"p(?:ass|w)|s(?:ecret|asl\.|cram|alt|haredaccess)|jaas|t(?:oken|elegram|ruststore)"
    rb"|c(?:redential|ookie|ence|ense)|h(?:mac|ook)|k(?:ey|ia)|loginmodule|b(?:earer|asic)|uth"
    rb"|\.eyj|@|\\u"
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


def is_secret_key(name: str) -> bool:
    """Whether a field of this name holds a credential."""
    return _SECRET_KEY.search(name) is not None


def holds_secret(text: str, *, keep_numbers: bool = False) -> bool:
    """Whether a text looks like a credential, or is JSON with one inside."""
    if is_secret_value(text):
        return True
    if not text.lstrip().startswith(("{", "[", '"')):
        return False
    try:
        tree = parse_json(text)
        return bool(mask(tree, keep_numbers=keep_numbers) != tree)
    except (Ambiguous, RecursionError):
        return True
    except ValueError:
        return False  # no JSON: an IPv6 address begins so, too


def _mask(value: Any, *, hidden: bool, keep_numbers: bool) -> Any:
    match value:
        case dict():
            return {
                MASK if is_secret_value(key) else key: _mask(
                    member,
                    hidden=hidden or is_secret_key(key),
                    keep_numbers=keep_numbers,
                )
                for key, member in value.items()
            }
        case list():
            return [_mask(member, hidden=hidden, keep_numbers=keep_numbers) for member in value]
        case str():
            if hidden and value not in _HARMLESS:
                return MASK
            return MASK if holds_secret(value, keep_numbers=keep_numbers) else value
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
