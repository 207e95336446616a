"""Forged records: each has a row in quarantine with its reason, and the one behind it is folded."""

from __future__ import annotations

import msgspec
import pytest

from streaming.fold.payload import read_payload
from streaming.log.records import Rejected, judge_record
from tests.hostile.record_attempts import ATTEMPTS, EVENT, POISONED, Forged
from zklake.events.envelope import Event


@pytest.mark.parametrize("forged", ATTEMPTS, ids=lambda one: one.title)
def test_it_is_rejected_with_a_reason(forged: Forged) -> None:
    judged = judge_record(forged.value, "c", "l")
    assert isinstance(judged, Rejected), judged
    assert judged.reason
    assert len(judged.reason) < 500
    assert "Traceback" not in judged.reason
    assert isinstance(judge_record(msgspec.json.encode(EVENT), "c", "l"), Event)


@pytest.mark.parametrize("forged", POISONED, ids=lambda one: one.title)
def test_its_data_is_known_to_be_none(forged: Forged) -> None:
    event = judge_record(forged.value, "c", "l")
    assert isinstance(event, Event)
    payload, error = read_payload(event)
    assert payload is None
    assert error in ("malformed", "not_utf8", "unknown_version")
