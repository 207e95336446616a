"""HTTPS by certificate files: checked before anything listens, for an error must say what to do."""

from __future__ import annotations

import ssl
from typing import NamedTuple

from zklake.errors import SettingsError


class Tls(NamedTuple):
    """Two PEM files."""

    cert: str
    key: str


def check_tls(tls: Tls) -> None:
    """SettingsError where the files cannot be read, or are not of each other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A key with a passphrase would ask for it at the terminal.
        context.load_cert_chain(tls.cert, tls.key, password=lambda: b"")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise SettingsError(
            f"dashboard.tls_cert {tls.cert}, dashboard.tls_key {tls.key}: cannot be used "
            f"({reason}); use PEM files that this user may read, a certificate and its key "
            "without a passphrase"
        ) from error
