"""What SASL to ZooKeeper needs: kazoo leaves it to pure-sasl, and Kerberos to kerberos."""

from __future__ import annotations

from importlib.util import find_spec

_INSTALLS = {"puresasl": "pip install 'zklake[sasl]'", "kerberos": "pip install kerberos"}
_MODULES = {"DIGEST-MD5": ("puresasl",), "GSSAPI": ("puresasl", "kerberos")}


def find_missing(mechanism: str) -> tuple[str, str] | None:
    """What a mechanism lacks, and the command that installs it; None: nothing."""
    for module in _MODULES[mechanism]:
        if find_spec(module) is None:
            return f"SASL {mechanism} to ZooKeeper lacks {module}", _INSTALLS[module]
    return None
