"""Hostile queries, in the sandbox's own process: nothing is written, nothing of ours is read."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from dashboard.options import Options
from delta_tables.asking.child_process import MEMORY_SIGNALS, choose_environment
from delta_tables.asking.lakes import Lake
from delta_tables.asking.question import Limits, Question
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER, write_story
from tests.hostile.attempts import Attempt, list_params
from tests.hostile.cells import Cells, open_cells
from tests.hostile.sql_attempts import HUGE, NESTING, REFUSED

LIMITS = Limits(timeout_s=2, max_rows=100, memory_bytes=256 << 20)
# Of a whole process on a busy machine; the limit itself is the kernel's.
PATIENCE_S = 60
CANARY = "c4nary-file-content"
# What no answer may hold: a file of ours, a place of ours, Python's or Rust's insides.
TELLTALES = (CANARY, "root:", "Traceback", "panicked", "/site-packages/", ".parquet", "PYTHONPATH=")
# The sentences of delta_tables/asking/querying.py and nesting.py.
OURS = (
    "only one SELECT|no function|no table|not SQL: (line|a quote)|that zklake can read|"
    "only the lake's own tables|is not allowed; write plain|only reading is allowed|nested|"
    "INTERVAL takes|longer than"
)
# An alias with too few columns, and a value that nobody gives: both are SQL.
BY_ENGINE = ("SELECT * FROM topics AS 'input_file_name'(a)", "SELECT :name")


class Ground(NamedTuple):
    """Where it is tried."""

    lake: str
    cells: Cells
    canary: Path
    out: Path

    def fill(self, text: str) -> str:
        places = {"{lake}": self.lake, "{canary}": str(self.canary), "{out}": str(self.out)}
        for name, place in places.items():
            text = text.replace(name, place)
        return text


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    lake = tmp_path_factory.mktemp("story")
    write_story(str(lake), groups=3)
    files = tmp_path_factory.mktemp("files")
    (files / "canary.csv").write_text(f"{CANARY}\n")
    (files / "out").mkdir()
    seen = {path: path.stat().st_mtime_ns for path in lake.rglob("*")}
    with open_cells(choose_environment([])) as cells:
        yield Ground(str(lake), cells, files / "canary.csv", files / "out" / "made")
        # After all of them: the process that forked is alive, and nothing was made or changed.
        asked = Question(lakes=[], sql="SELECT 41 + 1 AS x", limits=LIMITS)
        assert "42" in cells.ask(asked).text
    assert not list((files / "out").iterdir())
    assert {path: path.stat().st_mtime_ns for path in lake.rglob("*")} == seen


def ask(ground: Ground, attempt: Attempt) -> tuple[int, str | None, str]:
    sql = ground.fill(attempt.text)
    question = Question(lakes=[Lake(ground.lake, CLUSTER)], sql=sql, limits=LIMITS)
    began = time.monotonic()
    ended = ground.cells.ask(question)
    assert time.monotonic() - began < PATIENCE_S
    # What it says of the query may be the query's own words.
    telltales = [told for told in (*TELLTALES, ground.lake) if told not in sql]
    assert not [told for told in telltales if told in ended.text]
    return ended.code, ended.refusal, ended.text


@pytest.mark.parametrize("attempt", list_params(REFUSED))
def test_it_is_refused(ground: Ground, attempt: Attempt) -> None:
    code, refusal, text = ask(ground, attempt)
    assert (code, bool(refusal)) == (0, True), text[:500]
    # By us, before the engine sees it: what it makes of it is its own business.
    assert re.search(OURS, str(refusal)) or attempt.text in BY_ENGINE, refusal


@pytest.mark.parametrize("attempt", list_params(HUGE))
def test_it_ends_within_its_limits(ground: Ground, attempt: Attempt) -> None:
    code, refusal, _ = ask(ground, attempt)
    assert code in (0, -signal.SIGALRM, *(-number for number in MEMORY_SIGNALS))
    assert code == 0 or refusal is None


@pytest.fixture(scope="module")
def client(ground: Ground) -> TestClient:
    return open_client(Options(ground.lake, CLUSTER, limits=LIMITS))


THROUGH = (*REFUSED[::40], *NESTING[::12], *HUGE[::15])


@pytest.mark.parametrize("attempt", list_params(THROUGH))
def test_the_page_says_no_and_stays(ground: Ground, client: TestClient, attempt: Attempt) -> None:
    """Some of them the whole way: request, page, sandbox, answer."""
    query = ground.fill(attempt.text)
    for path in ("/api/sql", "/sql"):
        answer = client.get(path, params={"query": query})
        assert answer.status_code == 200
        said = answer.text if path == "/sql" else str(answer.json()["error"] or "")
        assert not [told for told in TELLTALES[1:4] if told in said]
        assert path == "/sql" or answer.json()["error"] or attempt in HUGE
    assert client.get("/api/sql", params={"query": "SELECT 1"}).json()["rows"] == [[1]]
