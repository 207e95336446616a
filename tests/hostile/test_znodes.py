"""Hostile data in znodes: read or refused with a reason, sealed, published, judged."""

from __future__ import annotations

import re

import msgspec
import pytest

from streaming.fold.payload import read_payload
from streaming.log.records import judge_record
from tests.hostile.znode_attempts import ATTEMPTS, SECRET, Znode
from watcher.sealing import Sealing
from zklake.events.envelope import Event, encode
from zklake.events.payloads.reading import Payload, Unreadable
from zklake.events.redaction import Redactor

RECORD_BYTES = 100_000
SEALING = Sealing(Redactor(b"key of the test"), RECORD_BYTES)


@pytest.mark.parametrize("znode", ATTEMPTS, ids=lambda one: f"{one.kind.name}-{one.title}")
def test_it_becomes_a_payload_or_a_reason_and_an_event_all_the_same(znode: Znode) -> None:
    payload = znode.kind.decode(znode.data)
    assert isinstance(payload, Payload | Unreadable)
    assert msgspec.json.encode(payload)
    path = re.sub(r"\[\w+\]", "1", znode.kind.pattern)
    sealed = SEALING.seal(path, znode.data)
    event = Event(
        cluster="c",
        log_id="l",
        seq=5,
        op="set",
        observed_at_ms=1000,
        path=path,
        kind=SEALING.kind(path),
        data=sealed.text,
        data_b64=sealed.b64,
        data_zlib_b64=sealed.zlib_b64,
        data_hash=sealed.data_hash,
        fidelity=sealed.fidelity,
    )
    record = encode(event)
    assert SECRET not in record
    assert len(record) <= RECORD_BYTES
    assert judge_record(record, "c", "l") == event
    read, error = read_payload(event)
    assert read is None or error is None
