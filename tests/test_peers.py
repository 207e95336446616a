"""docs/peers.md names tests: each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "peers.md").read_text()


def test_every_test_named_is_there() -> None:
    paths = {path.rsplit("/", 1)[1]: path for path in re.findall(r"tests/[\w/]+\.py", TEXT)}
    named = re.findall(r"(?:[\w/]*/)?(test_\w+\.py)((?:,?\s+`test_\w+`)+)", TEXT)
    assert len(named) > 30
    for file, tests in named:
        defined = set(re.findall(r"^def (test_\w+)", (ROOT / paths[file]).read_text(), re.M))
        wanted = set(re.findall(r"`(test_\w+)`", tests))
        assert wanted <= defined, f"{paths[file]}: {sorted(wanted - defined)}"


def test_all_fifteen_pains_have_an_answer() -> None:
    rows = re.findall(r"^\| (\d+) \|.*\|(.*)\|$", TEXT, re.M)
    assert [int(number) for number, _ in rows] == [*range(1, 16)]
    assert all("test_" in shown for _, shown in rows)
