"""About how many bytes a value takes in memory, with all that it holds. Knows no tables."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

# Of more items than that, some stand for all: weighing must not take as long as making.
_SAMPLE = 50


def weigh(value: Any) -> int:
    """Bytes; what is shared counts each time, so it is too much rather than too little."""
    size = sys.getsizeof(value)
    if isinstance(held := getattr(value, "nbytes", None), int):
        return size + held  # it says so itself
    if isinstance(value, str | bytes | int | float):
        return size
    if isinstance(value, Mapping):
        return size + _weigh_all(value) + _weigh_all(value.values())
    if isinstance(value, Collection):
        return size + _weigh_all(value)
    return size + _weigh_all(_list_fields(value))


def _weigh_all(items: Collection[Any]) -> int:
    step = max(1, len(items) // _SAMPLE)
    sample = [weigh(item) for item in islice(items, 0, None, step)]
    return sum(sample) * len(items) // len(sample) if sample else 0


def _list_fields(value: Any) -> list[Any]:
    names = getattr(value, "__struct_fields__", None) or getattr(value, "__slots__", None)
    if names is not None:
        return [getattr(value, name, None) for name in names]
    return list(getattr(value, "__dict__", {}).values())
