from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

from lab.zookeeper_consumer.assignors import ASSIGNORS, split_ceil, split_floor, split_range
from lab.zookeeper_consumer.options import RESETS

DOCUMENT = (Path(__file__).parents[3] / "docs" / "consumers.md").read_text()


def show(shares: list[range]) -> str:
    return " ".join(str(len(share)) for share in shares)


def show_lost(partitions: int, shares: list[range]) -> str:
    lost = set(range(partitions)) - set(chain.from_iterable(shares))
    return " ".join(str(partition) for partition in sorted(lost)) or "–"


def format_row(partitions: int, threads: int) -> str:
    floor = split_floor(partitions, threads)
    cells = [
        f"{partitions}, {threads}",
        show(split_range(partitions, threads)),
        show(floor),
        show_lost(partitions, floor),
        show(split_ceil(partitions, threads)),
    ]
    return f"| {' | '.join(cells)} |"


def test_the_table_of_shares_is_what_the_formulas_give() -> None:
    table = re.search(r"<!-- shares: .*?-->\n(.*?)<!-- end of shares -->", DOCUMENT, re.DOTALL)
    assert table
    rows = table[1].splitlines()[2:]
    counts = [tuple(map(int, re.findall(r"\d+", row.split("|")[1]))) for row in rows]
    assert {(4, 2), (5, 2), (5, 4), (10, 4), (2, 3)} <= set(counts)
    assert rows == [format_row(*count) for count in counts]


def test_every_strategy_and_reset_is_told_of() -> None:
    for name in (*ASSIGNORS, *RESETS):
        assert f"`{name}`" in DOCUMENT
