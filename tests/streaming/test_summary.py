from __future__ import annotations

from streaming.lake import _SMALL
from streaming.summary import weigh


def test_a_batch_of_few_large_values_is_not_small() -> None:
    assert weigh(100, 100 * 300) == 100
    assert weigh(100, 100 << 20) > _SMALL
