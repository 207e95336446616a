from __future__ import annotations

import pytest

from tests.watcher.log.writing import LOG_ID, make_batch
from watcher.log.batch import Batch
from watcher.log.outcome import is_committed
from watcher.log.resume import LastEvent
from zklake.errors import Fenced

BATCH = make_batch(11, 10)


def test_the_log_ends_with_our_batch() -> None:
    assert is_committed(BATCH, LastEvent(LOG_ID, 20, 1_020))


@pytest.mark.parametrize("last", [None, LastEvent(LOG_ID, 10, 1_010), LastEvent("older", 3, 5)])
def test_the_log_ends_before_our_batch(last: LastEvent | None) -> None:
    assert not is_committed(BATCH, last)


@pytest.mark.parametrize(
    "last",
    [LastEvent(LOG_ID, 20, 9_999), LastEvent(LOG_ID, 21, 1_021), LastEvent("new", 20, 1_020)],
)
def test_somebody_else_went_on(last: LastEvent) -> None:
    with pytest.raises(Fenced, match="another watcher wrote event"):
        is_committed(BATCH, last)


def test_rows_alone_may_be_written_twice() -> None:
    assert not is_committed(Batch([], {"/a": None}, None), LastEvent(LOG_ID, 20, 1_020))
