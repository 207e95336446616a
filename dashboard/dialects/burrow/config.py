"""`/v3/config` and the log level: what is true of this server in the words of Burrow's settings.

What does not exist here is empty. It never shows a credential: it is given none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from dashboard.dialects.burrow.question import UNKNOWN, BurrowAnswer, Question, refuse, say

_STORAGE, _EVALUATOR = "lake", "burrow"
# Burrow's class for groups of each coordinator.
_CONSUMERS = {"kafka": "kafka", "zookeeper": "kafka_zk"}
_NO_CLIENT = {"name": "", "client-id": "", "kafka-version": "", "tls": None, "sasl": None}


def show_main(question: Question) -> BurrowAnswer:
    """The general settings."""
    return say(
        "main config returned",
        general={"pidfile": "", "stdout-logfile": "", "access-control-allow-origin": ""},
        logging={
            "filename": "",
            "max-size": 0,
            "max-backups": 0,
            "max-age": 0,
            "use-local-time": False,
            "use-compression": False,
            "level": _find_level(),
        },
        zookeeper={"servers": [], "timeout": 0, "root-path": ""},
        httpserver={"default": {"address": question.server, "tls": "", "timeout": 0}},
    )


def list_modules(question: Question) -> BurrowAnswer:
    """The modules of one kind."""
    kind = question.names[0]
    modules = _list_modules(question)
    if kind not in modules:
        return UNKNOWN
    return say("module list returned", coordinator=kind, modules=modules[kind])


def _list_modules(question: Question) -> dict[str, list[str]]:
    return {
        "storage": [_STORAGE],
        "evaluator": [_EVALUATOR],
        "cluster": [question.options.cluster],
        "consumer": sorted(_CONSUMERS),
        "notifier": [],
    }


def show_module(question: Question) -> BurrowAnswer:
    """One module."""
    kind, name = question.names
    modules = _list_modules(question)
    if kind not in modules:
        return UNKNOWN
    if name not in modules[kind]:
        return refuse(404, f"{kind} module not found")
    describe = _DESCRIPTIONS[kind]
    return say(f"{kind} module detail returned", module=describe(question))


def show_cluster(question: Question) -> BurrowAnswer:
    """The cluster as a module, which is how Burrow shows it at `/v3/kafka/{cluster}`, too."""
    if not question.is_known_cluster:
        return refuse(404, "cluster module not found")
    return say("cluster module detail returned", module=_describe_cluster(question))


def show_log_level(question: Question) -> BurrowAnswer:
    """Of this process."""
    return say("log level returned", level=_find_level())


def _describe_storage(question: Question) -> dict[str, Any]:
    rules = question.sight.rules
    return {
        "class-name": "zklake",
        "intervals": rules.intervals,
        "min-distance": rules.min_distance_s,
        "group-whitelist": "",
        "expire-group": rules.expire_group_s,
    }


def _describe_cluster(question: Question) -> dict[str, Any]:
    sight = question.sight
    sql = f"SELECT endpoints FROM broker_membership WHERE {sight.held} ORDER BY broker_id"  # noqa: S608
    brokers = [row["endpoints"] or [] for row in sight.ask(sql, "broker_membership")]
    return {
        "class-name": "kafka",
        "servers": [one.rpartition("://")[2] for endpoints in brokers for one in endpoints],
        "client-profile": _NO_CLIENT,
        # Topics are watched, not asked for.
        "topic-refresh": 0,
        "offset-refresh": sight.rules.offset_refresh_s,
    }


def _describe_evaluator(question: Question) -> dict[str, Any]:
    return {"class-name": "zklake", "expire-cache": 0}


def _describe_consumer(question: Question) -> dict[str, Any]:
    name = question.names[1]
    return {
        "class-name": _CONSUMERS[name],
        "cluster": question.options.cluster,
        "servers": [],
        "group-whitelist": "",
        "zookeeper-path": "",
        "zookeeper-timeout": 0,
        "client-profile": _NO_CLIENT,
        "offsets-topic": "__consumer_offsets" if name == "kafka" else "",
        "start-latest": False,
    }


_DESCRIPTIONS: dict[str, Callable[[Question], dict[str, Any]]] = {
    "storage": _describe_storage,
    "evaluator": _describe_evaluator,
    "cluster": _describe_cluster,
    "consumer": _describe_consumer,
}


def _find_level() -> str:
    return logging.getLevelName(logging.getLogger().getEffectiveLevel()).lower()
