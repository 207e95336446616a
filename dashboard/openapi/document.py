"""The OpenAPI document, made of the addresses."""

from __future__ import annotations

from functools import cache
from typing import Any

from dashboard.openapi.address import Address, DocumentedAnswer, fail
from dashboard.openapi.addresses import list_addresses
from dashboard.openapi.params import Param
from dashboard.openapi.shapes import Schema, write_schema
from zklake import __version__

_ABOUT = (
    "A Kafka cluster's ZooKeeper tree, as history: every page of the dashboard as JSON. Times are "
    "RFC 3339 in UTC; what is not known is null. Nothing here writes."
)
# What the Guard says, at whichever address.
_REFUSALS = {
    401: "The password or token is missing, or wrong.",
    403: "Another site made the browser ask, or SQL is asked by a viewer or where it is off.",
    421: "The Host is a name that is not among dashboard.allowed_hosts.",
    429: "Too many wrong logins came from this address.",
}
_LOCKS = {
    "password": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "bearer"},
}


@cache
def build_document() -> dict[str, Any]:
    """OpenAPI 3.1."""
    named: dict[str, Schema] = {}
    paths = {one.path: {"get": _write_address(one, named)} for one in list_addresses()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "zklake",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": named, "securitySchemes": _LOCKS},
        # Either of them, or none where the settings have none.
        "security": [{}, *({name: []} for name in _LOCKS)],
    }


def _write_address(address: Address, named: dict[str, Schema]) -> dict[str, Any]:
    answers = {**address.answers, **_list_refusals(address)}
    return {
        "operationId": address.name,
        "summary": address.title,
        "description": address.says,
        "parameters": [_write_param(param, named) for param in address.params],
        "responses": {str(code): _write_answer(answers[code], named) for code in sorted(answers)},
        **({"security": []} if address.is_open else {}),
    }


def _list_refusals(address: Address) -> dict[int, DocumentedAnswer]:
    is_json = address.path.startswith("/api/")
    return {
        status: fail(says) if is_json else DocumentedAnswer(says)
        for status, says in _REFUSALS.items()
        if status not in (401, 429) or not address.is_open
    }


def _write_param(param: Param, named: dict[str, Schema]) -> dict[str, Any]:
    examples = {text: {"value": text} for text in param.examples}
    return {
        "name": param.name,
        "in": param.place,
        "required": param.is_required or param.place == "path",
        "description": param.says,
        "schema": write_schema(param.type, named),
        **({"examples": examples} if examples else {}),
    }


def _write_answer(answer: DocumentedAnswer, named: dict[str, Schema]) -> dict[str, Any]:
    for other in answer.others:
        write_schema(other, named)
    schema = write_schema(answer.type, named)
    content = {media_type: {"schema": schema} for media_type in answer.media_types}
    return {"description": answer.says, "content": content}
