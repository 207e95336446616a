"""What a part of the product says of itself over HTTP: /readyz, and a figure of its /metrics."""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import NamedTuple

_TIMEOUT_S = 2.0
_LONGEST_ANSWER = 1 << 20
# Its certificate need not name the address by which we ask. Nothing secret is sent, and nothing is
# believed but how it is.
_OURS = ssl.create_default_context()
_OURS.check_hostname = False
_OURS.verify_mode = ssl.CERT_NONE
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104


class Readiness(NamedTuple):
    """How a part is: `is_ready` is None when nobody answers."""

    is_ready: bool | None
    says: str


def write_url(listen: str, *, has_tls: bool = False) -> str:
    """Where somebody on this machine reaches what listens at HOST:PORT."""
    host, _, port = listen.rpartition(":")
    return f"{'https' if has_tls else 'http'}://{_ANYWHERE.get(host, host)}:{port}"


def ask_readiness(url: str, timeout_s: float = _TIMEOUT_S) -> Readiness:
    """What /readyz says."""
    try:
        return Readiness(True, _get(f"{url}/readyz", timeout_s))
    except urllib.error.HTTPError as error:
        with error:
            text = error.read(_LONGEST_ANSWER).decode(errors="replace").strip()
        return Readiness(False, text or f"says {error.code}")
    except TimeoutError:
        return Readiness(None, f"did not answer within {timeout_s:g} s")
    except urllib.error.URLError as error:
        return Readiness(None, f"cannot be reached: {error.reason}")
    except (OSError, HTTPException, ValueError) as error:
        return Readiness(None, f"gave no answer: {error}")


def read_figure(url: str, name: str) -> float | None:
    """A figure of /metrics, summed over its labels; None when it cannot be had."""
    try:
        text = _get(f"{url}/metrics", _TIMEOUT_S)
        found = re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found)) if found else None
    except (OSError, HTTPException, ValueError):
        return None


def _get(url: str, timeout_s: float) -> str:
    with urllib.request.urlopen(url, timeout=timeout_s, context=_OURS) as answer:  # noqa: S310
        return str(answer.read(_LONGEST_ANSWER).decode(errors="replace")).strip()
