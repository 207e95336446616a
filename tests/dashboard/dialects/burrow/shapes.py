"""The shapes of Burrow's answers, by its source (core/internal/httpserver/structs.go): a value of
each type stands for the type; a list holds one item; None: null is possible, too.
"""

from __future__ import annotations

import socket
from typing import Any

COMMIT = {"offset": 0, "timestamp": 0, "observedAt": 0, "lag": (0, None)}
PARTITION = {
    "topic": "",
    "partition": 0,
    "owner": "",
    "client_id": "",
    "status": "",
    "start": (COMMIT, None),
    "end": (COMMIT, None),
    "current_lag": 0,
    "complete": 0.0,
}
STATUS = {
    "status": {
        "cluster": "",
        "group": "",
        "status": "",
        "complete": 0.0,
        "partitions": [PARTITION],
        "partition_count": 0,
        "maxlag": (PARTITION, None),
        "totallag": 0,
    }
}
CLIENT = {"name": "", "client-id": "", "kafka-version": "", "tls": (None,), "sasl": (None,)}
CLUSTER = {
    "class-name": "",
    "servers": [""],
    "client-profile": CLIENT,
    "topic-refresh": 0,
    "offset-refresh": 0,
}
CONSUMER = {
    "class-name": "",
    "cluster": "",
    "servers": [""],
    "group-whitelist": "",
    "zookeeper-path": "",
    "zookeeper-timeout": 0,
    "client-profile": CLIENT,
    "offsets-topic": "",
    "start-latest": False,
}
STORAGE = {
    "class-name": "",
    "intervals": 0,
    "min-distance": 0,
    "group-whitelist": "",
    "expire-group": 0,
}
MAIN = {
    "general": {"pidfile": "", "stdout-logfile": "", "access-control-allow-origin": ""},
    "logging": {
        "filename": "",
        "max-size": 0,
        "max-backups": 0,
        "max-age": 0,
        "use-local-time": False,
        "use-compression": False,
        "level": "",
    },
    "zookeeper": {"servers": [""], "timeout": 0, "root-path": ""},
    "httpserver": {"default": {"address": "", "tls": "", "timeout": 0}},
}
WINDOW = {"offsets": [(COMMIT, None)], "owner": "", "client_id": "", "current-lag": 0}


def check_shape(given: Any, wanted: Any, where: str = "") -> None:
    """Every field that must be there is, of its type, and no other."""
    match wanted:
        case tuple():
            fits = next(one for one in wanted if (one is None) == (given is None))
            assert given is None or fits is not None, where
            if given is not None:
                check_shape(given, fits, where)
        case dict():
            assert given.keys() == wanted.keys(), where
            for name, one in wanted.items():
                check_shape(given[name], one, f"{where}.{name}")
        case list():
            assert isinstance(given, list), where
            for item in given:
                check_shape(item, wanted[0], f"{where}[]")
        case _:
            assert type(given) is type(wanted), f"{where}: {given!r}"


def check_body(body: dict[str, Any], wanted: Any, path: str, message: str) -> None:
    """What every answer has, and the rest."""
    assert body["error"] is False
    assert body["message"] == message
    assert body["request"] == {"url": path, "host": socket.gethostname()}
    rest = {name: body[name] for name in body if name not in ("error", "message", "request")}
    check_shape(rest, wanted)
