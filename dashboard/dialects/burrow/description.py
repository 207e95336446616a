"""The shape of Burrow's answers, for each of its addresses."""

from __future__ import annotations

from dashboard.dialects.burrow.addresses import ADDRESSES, split
from dashboard.dialects.burrow.evaluation import Status
from dashboard.openapi.address import Address, DocumentedAnswer, answer_json
from dashboard.openapi.params import Param, describe_moment
from dashboard.openapi.shapes import (
    ByName,
    Either,
    Maybe,
    Named,
    Shape,
    choose,
    compile_shape,
)

_KINDS = ("storage", "evaluator", "cluster", "consumer", "notifier")
_COMMIT = Named(
    "BurrowCommit", {"offset": int, "timestamp": int, "observedAt": int, "lag": int | None}
)
_PARTITION = Named(
    "BurrowPartition",
    {
        "topic": str,
        "partition": int,
        "owner": str,
        "client_id": str,
        "status": Status,
        "start": Maybe(_COMMIT),
        "end": Maybe(_COMMIT),
        "current_lag": int,
        "complete": float,
    },
)
_STATUS = Named(
    "BurrowStatus",
    {
        "cluster": str,
        "group": str,
        "status": Status,
        "complete": float,
        "partitions": [_PARTITION],
        "partition_count": int,
        "maxlag": Maybe(_PARTITION),
        "totallag": int,
    },
)
_WINDOW = Named(
    "BurrowWindow",
    {"offsets": [Maybe(_COMMIT)], "owner": str, "client_id": str, "current-lag": int},
)
_REQUEST = Named("BurrowRequest", {"url": str, "host": str})
_PROFILE = Named(
    "BurrowProfile",
    {"name": str, "client-id": str, "kafka-version": str, "tls": None, "sasl": None},
)
_CLUSTER = {
    "class-name": str,
    "servers": list[str],
    "client-profile": _PROFILE,
    "topic-refresh": int,
    "offset-refresh": int,
}
_MODULE = Either(
    (
        _CLUSTER,
        {
            "class-name": str,
            "intervals": int,
            "min-distance": int,
            "group-whitelist": str,
            "expire-group": int,
        },
        {"class-name": str, "expire-cache": int},
        {
            "class-name": str,
            "cluster": str,
            "servers": list[str],
            "group-whitelist": str,
            "zookeeper-path": str,
            "zookeeper-timeout": int,
            "client-profile": _PROFILE,
            "offsets-topic": str,
            "start-latest": bool,
        },
    )
)
_MAIN: dict[str, Shape] = {
    "general": {"pidfile": str, "stdout-logfile": str, "access-control-allow-origin": str},
    "logging": {
        "filename": str,
        "max-size": int,
        "max-backups": int,
        "max-age": int,
        "use-local-time": bool,
        "use-compression": bool,
        "level": str,
    },
    "zookeeper": {"servers": list[str], "timeout": int, "root-path": str},
    "httpserver": {"default": {"address": str, "tls": str, "timeout": int}},
}
_CONSUMER = "/v3/kafka/{cluster}/consumer"
_TOPIC = "/v3/kafka/{cluster}/topic"
# What a body has beyond the wrapping.
_BODIES: dict[str, dict[str, Shape]] = {
    "/v3/kafka": {"clusters": list[str]},
    "/v3/kafka/{cluster}": {"module": _CLUSTER},
    _TOPIC: {"topics": list[str]},
    f"{_TOPIC}/{{topic}}": {"offsets": list[int]},
    f"{_TOPIC}/{{topic}}/consumers": {"consumers": list[str]},
    _CONSUMER: {"consumers": list[str]},
    f"{_CONSUMER}/{{group}}": {"topics": ByName([_WINDOW])},
    f"{_CONSUMER}/{{group}}/status": {"status": _STATUS},
    f"{_CONSUMER}/{{group}}/lag": {"status": _STATUS},
    "/v3/config": _MAIN,
    "/v3/config/{kind}": {"coordinator": choose(*_KINDS), "modules": list[str]},
    "/v3/config/{kind}/{name}": {"module": _MODULE},
    "/v3/admin/loglevel": {"level": str},
}
_NAMES = {
    "cluster": Param("cluster", str, "The name of the cluster.", ("kafka",), place="path"),
    "topic": Param("topic", str, "The topic.", ("orders",), place="path"),
    "group": Param("group", str, "The group.", ("billing",), place="path"),
    "kind": Param("kind", str, f"One of {', '.join(_KINDS)}.", ("consumer",), place="path"),
    "name": Param("name", str, "The module.", ("zookeeper",), place="path"),
}


def _wrap(**body: Shape) -> dict[str, Shape]:
    """What every body of Burrow's has."""
    return {"error": bool, "message": str, **body, "request": _REQUEST}


_HEALTH = (
    Address(
        "/burrow/admin",
        "burrow_admin",
        "Health, as Burrow says it",
        "Whether the dashboard itself is up.",
        {200: DocumentedAnswer("`GOOD`.")},
    ),
    Address(
        "/burrow/admin/ready",
        "burrow_admin_ready",
        "Readiness, as Burrow says it",
        "Whether the lake has data.",
        {
            200: DocumentedAnswer("`READY`."),
            503: DocumentedAnswer("`STARTING`: the lake has no data yet."),
        },
    ),
)
_ERROR = Named("BurrowError", _wrap())
_UNKNOWN = Named("BurrowUnknown", _wrap(result={}))


def describe_burrow() -> tuple[Address, ...]:
    """Its health, and every address below /v3: all but GET and HEAD is refused with 405."""
    return (*_HEALTH, *(_describe(address.path, address.summary) for address in ADDRESSES))


def _describe(path: str, summary: str) -> Address:
    name = "burrow_" + "_".join(part.strip("{}") for part in split(path)[1:])
    body = Named(_write_title(name) + "Answer", _wrap(**_BODIES[path]))
    # For a group that is not there, Burrow answers the status NOTFOUND, and no error.
    missing = Either((_ERROR, _UNKNOWN, *([body] if "status" in body.shape else [])))
    names = [part.strip("{}") for part in split(path) if part.startswith("{")]
    return Address(
        path,
        name,
        summary,
        f"As Burrow: {summary[0].lower()}{summary[1:]}.",
        {
            200: answer_json("As Burrow says it.", body.compiled),
            400: answer_json("The time cannot be read.", _ERROR.compiled),
            404: answer_json("It does not exist.", compile_shape(missing, body.name)),
            503: answer_json("The lake cannot be read.", _ERROR.compiled),
        },
        (
            *(_NAMES[name] for name in names),
            describe_moment("time", "As it was then, by default as it is now", "-25m"),
        ),
    )


def _write_title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
