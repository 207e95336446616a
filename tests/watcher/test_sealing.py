"""No data is sealed alike at every path."""

from __future__ import annotations

import pytest

from watcher.sealing import Sealing
from zklake.events.kinds import KINDS
from zklake.events.redaction import Redactor

PATHS = [kind.pattern.replace("[", "").replace("]", "") for kind in KINDS]


@pytest.mark.parametrize("data", [b"", None], ids=["empty", "null"])
def test_no_data_is_sealed_as_the_redactor_says(data: bytes | None) -> None:
    redactor = Redactor(b"test", redact_paths=["/brokers/**"])
    sealing = Sealing(redactor, 1 << 20)
    for path in PATHS:
        kept, fidelity, data_hash = redactor.seal(path, sealing.kind(path), data)
        text = None if kept is None else kept.decode()
        assert sealing.seal(path, data) == (text, None, None, data_hash, fidelity), path
