"""ACLs and delegation tokens. None of it leaves the process unless somebody opens it."""

from __future__ import annotations

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    Document,
    Int64,
    Payload,
    Unreadable,
    read_text,
)


class Acl(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One right of one principal."""

    principal: str
    permission_type: str
    operation: str
    host: str


class Acls(Payload, frozen=True, kw_only=True):
    """All rights on one resource."""

    acls: tuple[Acl, ...]


class AclChange(Payload, frozen=True, kw_only=True):
    """The resource whose rights were written just before."""

    resource_type: str = msgspec.field(name="resourceType")
    name: str
    pattern_type: str = msgspec.field(name="patternType", default="LITERAL")


class Token(Payload, frozen=True, kw_only=True, rename="camel"):
    """A delegation token; its HMAC is not here, but follows from the id and one key."""

    owner: str
    # Newer than the first token format.
    token_requester: str | None = None
    renewers: tuple[str, ...]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiry_timestamp: Int64
    token_id: str


class TokenChange(Payload, frozen=True, kw_only=True):
    """The token that was written just before."""

    token_id: str


_ACLS = Document(Acls, {1: ()})
_ACL_CHANGE = Document(AclChange, {1: ()})
_TOKEN = Document(Token, {1: (), 2: (), 3: ()})


def decode_acls(data: bytes | None) -> Acls | Unreadable:
    """The rights on one resource."""
    return _ACLS.read(data)


def decode_acl_change(data: bytes | None) -> AclChange | Unreadable:
    """Text such as `Topic:orders`, in late releases `TOPIC:orders`."""
    text = read_text(data)
    if isinstance(text, Unreadable):
        return text
    resource_type, colon, name = text.partition(":")
    if not (colon and name and resource_type.isalpha()):
        return Unreadable("not_recognised", "no Type:name")
    return AclChange(resource_type=resource_type, name=name)


def decode_extended_acl_change(data: bytes | None) -> AclChange | Unreadable:
    """The JSON form, which alone can name a prefixed resource."""
    return _ACL_CHANGE.read(data)


def decode_token(data: bytes | None) -> Token | Unreadable:
    """A token's public part."""
    return _TOKEN.read(data)


def decode_token_change(data: bytes | None) -> TokenChange | Unreadable:
    """A bare token id."""
    text = read_text(data)
    return text if isinstance(text, Unreadable) else TokenChange(token_id=text)


_RIGHTS = (
    Sample(
        "0.9-3.9",
        b'{"version":1,"acls":[{"principal":"User:alice","permissionType":"Allow",'
        b'"operation":"Read","host":"*"}]}',
    ),
)
_TOKEN_TIMES = (
    b'"renewers":["User:ops"],"issueTimestamp":1794793246657,"maxTimestamp":1795398046657,'
    b'"expiryTimestamp":1794879646657,"tokenId":"pQsampleTokenIdSample0"}'
)

KINDS = (
    directory("acls_dir", "/kafka-acl", "0.9-3.9"),
    directory("acl_type_dir", "/kafka-acl/[resource_type]", "0.9-3.9"),
    Kind(
        "acl",
        "/kafka-acl/[resource_type]/[resource]",
        "0.9-3.9",
        "rights on one resource",
        decode_acls,
        _RIGHTS,
        sensitivity="sealed",
    ),
    directory("extended_acls_dir", "/kafka-acl-extended", "2.0-3.9"),
    directory("prefixed_acls_dir", "/kafka-acl-extended/prefixed", "2.0-3.9"),
    directory("prefixed_acl_type_dir", "/kafka-acl-extended/prefixed/[resource_type]", "2.0-3.9"),
    Kind(
        "prefixed_acl",
        "/kafka-acl-extended/prefixed/[resource_type]/[resource]",
        "2.0-3.9",
        "rights on all resources whose name begins so",
        decode_acls,
        _RIGHTS,
        sensitivity="sealed",
    ),
    directory("acl_changes_dir", "/kafka-acl-changes", "0.9-3.9"),
    Kind(
        "acl_change",
        "/kafka-acl-changes/acl_changes_[sequence]",
        "0.9-3.9",
        "a nudge: whose rights were written",
        decode_acl_change,
        (Sample("0.9-2.x", b"Topic:orders"), Sample("late releases", b"TOPIC:orders")),
        mode="sequential",
        sensitivity="sealed",
    ),
    directory("extended_acl_changes_dir", "/kafka-acl-extended-changes", "2.0-3.9"),
    Kind(
        "extended_acl_change",
        "/kafka-acl-extended-changes/acl_changes_[sequence]",
        "2.0-3.9",
        "a nudge: whose prefixed rights were written",
        decode_extended_acl_change,
        (
            Sample(
                "2.0-3.9",
                b'{"version":1,"resourceType":"TOPIC","name":"pay-","patternType":"PREFIXED"}',
            ),
        ),
        mode="sequential",
        sensitivity="sealed",
    ),
    directory("delegation_token_dir", "/delegation_token", "1.1-3.9"),
    directory("tokens_dir", "/delegation_token/tokens", "1.1-3.9"),
    Kind(
        "delegation_token",
        "/delegation_token/tokens/[token_id]",
        "1.1-3.9",
        "a delegation token; its id is published as a keyed hash",
        decode_token,
        (
            Sample("1.1-2.x", b'{"version":1,"owner":"User:bob",' + _TOKEN_TIMES),
            Sample(
                "3.x",
                b'{"version":3,"owner":"User:bob","tokenRequester":"User:bob",' + _TOKEN_TIMES,
            ),
        ),
        sensitivity="token",
    ),
    directory("token_changes_dir", "/delegation_token/token_changes", "1.1-3.9"),
    Kind(
        "token_change",
        "/delegation_token/token_changes/token_change_[sequence]",
        "1.1-3.9",
        "a nudge: the id of the token that was written",
        decode_token_change,
        (Sample("1.1-3.9", b"pQsampleTokenIdSample0"),),
        mode="sequential",
        sensitivity="secret",
    ),
)
