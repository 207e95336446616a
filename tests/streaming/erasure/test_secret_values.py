"""In which spellings a value is found, and what stands in its place."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from streaming.erasure.secret_values import SecretValues
from zklake.errors import SettingsError
from zklake.events.credentials import MASK
from zklake.events.envelope import Event, decode, encode

VALUE = 'can"ary\\7f3a é/='
SECRETS = SecretValues([VALUE])
CONFIG = {"version": 1, "config": {"retention.ms": "1", "plugin.x": VALUE}}


def make(**fields: object) -> bytes:
    return encode(Event("c", "l", 1, "set", 1, path="/p", **fields))  # type: ignore[arg-type]


HELD = {
    "plain": {"data": f"user={VALUE}"},
    "json": {"data": json.dumps(CONFIG)},
    "json as utf-8": {"data": json.dumps(CONFIG, ensure_ascii=False)},
    "json with escapes of its own": {
        "data": json.dumps(CONFIG).replace("=", "\\u003d").replace("/", "\\/")
    },
    "json in json": {"data": json.dumps({"config": {"a": json.dumps({"b": VALUE})}})},
    "json in json in json": {
        "data": json.dumps({"config": {"a": json.dumps({"b": json.dumps([VALUE])})}})
    },
    "packed": {"data_b64": base64.b64encode(b"\xff" + VALUE.encode()).decode()},
    "compressed": {
        "data_zlib_b64": base64.b64encode(zlib.compress(json.dumps(CONFIG).encode())).decode()
    },
}


@pytest.mark.parametrize("form", HELD)
def test_a_record_is_found_and_masked_in_every_form(form: str) -> None:
    record = make(**HELD[form])
    assert SECRETS.occur_in_record(record)
    event = decode(SECRETS.mask_record(record))
    assert event.fidelity == "redacted"
    assert not SECRETS.occur_in_record(encode(event))
    left = event.data or ""
    assert event.data_b64 is event.data_zlib_b64 is None
    assert "ary" not in left
    assert (MASK in left) == form.startswith("json"), "JSON keeps its other members"


def test_other_members_stay_as_redaction_would_have_left_them() -> None:
    event = decode(SECRETS.mask_record(make(**HELD["json"])))
    kept = {"version": 1, "config": {"retention.ms": "1", "plugin.x": MASK}}
    assert json.loads(event.data or "") == kept


def test_names_are_masked_in_part() -> None:
    event = {"path": f"/consumers/a {VALUE} b/ids", "data": "other"}
    assert SECRETS.mask_event(event) == {"path": f"/consumers/a {MASK} b/ids", "data": "other"}


def test_bytes_that_are_no_event() -> None:
    raw = b"\xff not json " + VALUE.encode()
    assert SECRETS.occur_in_record(raw)
    assert SECRETS.mask_record(raw) == b"\xff not json " + MASK.encode()


def test_what_does_not_hold_it_stays_to_the_byte() -> None:
    for record in (make(data='{"a" : "\\u0041"}'), make(data_b64="/w=="), b"[1", b""):
        assert not SECRETS.occur_in_record(record)
        assert SECRETS.mask_record(record) == record


def test_a_value_that_is_too_short_is_refused_and_not_told() -> None:
    with pytest.raises(SettingsError, match="fewer than 6 characters") as refused:
        SecretValues(["pin42"])
    assert "pin42" not in str(refused.value)
