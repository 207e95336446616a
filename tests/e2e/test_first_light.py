"""From a broker's death to rows in a Delta table, through the command a user runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from delta_tables.reading import open_table, read_rows
from lab.ports import take_port


@pytest.mark.e2e
@pytest.mark.timeout(1200)
def test_a_broker_dies_and_comes_back_as_rows(tmp_path: Path) -> None:
    place = tmp_path / "run"
    command = [sys.executable, "-m", "zklake", "run", "--once", "--json", "--dir", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1190, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stderr)
    rows = json.loads(done.stdout)
    lives = {broker: [r for r in rows if r["broker_id"] == broker] for broker in (0, 1, 2)}
    assert [len(lives[broker]) for broker in (0, 1, 2)] == [1, 1, 2]
    first, second = lives[2]
    assert not first["is_open"]
    assert first["ended_by"] == "session_ended"
    assert second["is_open"]
    assert second["broker_epoch"] > first["broker_epoch"]
    assert first["valid_from_at"] < first["valid_to_at"] <= second["valid_from_at"]
    check_lake(str(place / "lake"))
    check_remains(place)


def check_remains(place: Path) -> None:
    """Nothing listens any more; what the next run needs is there."""
    state = json.loads((place / "state.json").read_text())
    assert state["brokers"] == 3
    assert {"zookeeper-1", "broker-0", "broker-2", "watch", "stream"} <= state["ports"].keys()
    assert all(map(take_port, state["ports"].values()))
    logs = {path.name for path in (place / "logs").iterdir()}
    assert {"zookeeper-1.log", "broker-0.log", "watch.log", "stream.log", "audit.log"} <= logs
    # Nothing but the story has ended anything.
    assert (place / "logs" / "watch.log").read_text().count("log taken") == 1


def check_lake(lake: str) -> None:
    events = read_rows(
        lake, "lab", "SELECT op, path, kind FROM znode_events WHERE kind = 'broker' ORDER BY seq"
    )
    of_victim = [event["op"] for event in events if event["path"] == "/brokers/ids/2"]
    assert "delete" in of_victim
    assert of_victim[-1] == "set"  # 3.9 registers with one multi: create(null), then set
    owned = read_rows(lake, "lab", "SELECT partition, owner FROM ownership_history WHERE is_open")
    assert {row["partition"]: row["owner"] for row in owned} == {
        0: "readers_a-0",
        1: "readers_a-0",
        2: "readers_b-0",
        3: "readers_b-0",
    }
    for name in ("broker_membership", "znode_events"):
        table = open_table(lake, "lab", name)
        assert table is not None
        assert table.protocol().min_reader_version == 1
