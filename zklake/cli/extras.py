"""Which extra brings what a command lacks. Import-light: every command imports this."""

from __future__ import annotations

# What each command needs beyond the plain package, as `pip install 'zklake[…]'` takes it.
EXTRAS = {
    "alerts": "dashboard",
    "at": "sql",
    "audit": "watcher,sql",
    "backfill": "watcher,stream",
    "dashboard": "dashboard",
    "describe": "sql",
    "lab": "lab",
    "lake": "sql",
    "maintain": "stream",
    "rebuild": "stream",
    "run": "watcher,stream,dashboard,lab",
    "sql": "sql",
    "status": "sql",
    "stream": "stream",
    "tables": "sql",
    "watch": "watcher",
    "why": "sql",
}
# The modules that extras bring.
OPTIONAL = frozenset(
    {
        "confluent_kafka",
        "delta",
        "deltalake",
        "jinja2",
        "kazoo",
        "pyarrow",
        "pyspark",
        "anyio",
        "sqlglot",
        "starlette",
        "uvicorn",
    }
)


def name_extra(command: str, package: str) -> str | None:
    """What to install for this command; None: no extra brings the package, so the fault is ours."""
    return EXTRAS.get(command) if package in OPTIONAL else None
