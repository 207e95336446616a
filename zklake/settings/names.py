"""What settings are called in the environment and on the command line; which names hold secrets.

The command line imports this at start, so it must not import pydantic.
"""

from __future__ import annotations

from zklake.credential_signs import resembles_credential

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


def looks_secret(name: str) -> bool:
    """Whether an option of this name holds a secret, or looks like a misspelt one that does."""
    return resembles_credential(name)


def env_name(key: str) -> str:
    """zookeeper.session_timeout_ms -> ZKLAKE_ZOOKEEPER__SESSION_TIMEOUT_MS."""
    return ENV_PREFIX + key.upper().replace(".", "__")
