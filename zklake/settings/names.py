"""What settings are called in the environment and on the command line; which names hold secrets.

The command line imports this at start, so it must not import pydantic.
"""

from __future__ import annotations

import re

ENV_PREFIX = "ZKLAKE_"
DEFAULT_FILE = "zklake.toml"

# The options that mean the same in every command: `--log X` and ZKLAKE_LOG=X set log.bootstrap.
SHORT_FORMS = {
    "zookeeper": "zookeeper.connect",
    "log": "log.bootstrap",
    "watched": "watched.bootstrap",
    "cluster": "cluster",
    "lake": "lake.path",
}

# Variables of ours that are no settings: the file itself, the output form, and where JARs are.
OTHER_VARIABLES = (
    "ZKLAKE_CONFIG",
    "ZKLAKE_JSON",
    "ZKLAKE_IVY_SETTINGS",
    "ZKLAKE_JARS_CACHE",
    "ZKLAKE_JARS_OFFLINE_DIR",
)

MASK = "**********"
_SECRET = re.compile(r"passw|passphrase|secret|key|token|jaas|credential", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether a librdkafka option of this name holds a secret; `….location` only says where."""
    return bool(_SECRET.search(name)) and not name.lower().endswith(".location")


def env_name(key: str) -> str:
    """zookeeper.session_timeout_ms -> ZKLAKE_ZOOKEEPER__SESSION_TIMEOUT_MS."""
    return ENV_PREFIX + key.upper().replace(".", "__")
