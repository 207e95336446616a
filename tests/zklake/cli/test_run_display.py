from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from zklake.cli.run_display import Display


def test_without_a_terminal_everything_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Display() as display:
        display.say("the topic is [bold]orders\x1b[2J\nand more")
        display.show_state("watch", "scanning the tree")
        display.show_rows([{"broker_id": 1, "valid_to_at": datetime(2026, 11, 16, tzinfo=UTC)}])
        display.show_rows([])
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = [re.sub(r"^\[ *[\d.]+ s\] ", "", line) for line in shown.err.splitlines()]
    assert lines == [
        r"the topic is [bold]orders\x1b[2J\nand more",
        "watch: scanning the tree",
        "broker_id  valid_to_at",
        "1          00:00:00.000Z",
    ]
