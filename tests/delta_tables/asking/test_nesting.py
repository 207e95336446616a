"""Texts that cost a parser 2^n: refused by their tokens, and never read outside the child."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest

from delta_tables.asking.querying import check_condition, check_query
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from zklake.errors import QueryError

ROOT = Path(__file__).parents[3]
DEEP = 30
# Of each: what opens a level, and what closes it.
FORMS = {
    "date": ("date(", ")"),
    "timestamp": ("timestamp(", ")"),
    "decimal": ("decimal(", ")"),
    "struct": ("struct(", ")"),
    "object": ("object(", ")"),
    "array": ("ARRAY[", "]"),
    "cast": ("x::int[", "]"),
    "quoted": ('"date"(', ")"),
    "array of array": ("x::int[1][", "]"),
    "zone": ("timestamp with time zone(", ")"),
    "if": ("IF[", "]"),
    "if of a negative": ("IF -[", "]"),
    "open": ("date(", ""),
    "blocks": ("(date((", ")))"),
}
# Within every cap, and still the work of some seconds.
SLOW = "SELECT " + ", ".join(["x[1]" + "::int[date(date(date(date(date(1)))))]"] * 440)


def nest(opening: str, closing: str, depth: int = DEEP) -> str:
    return f"SELECT {opening * depth}1{closing * depth}"


@pytest.mark.parametrize("form", FORMS)
def test_what_would_cost_for_ever_is_refused_at_once(form: str) -> None:
    with pytest.raises(QueryError, match=r"nested more than \d+ deep") as refused:
        run_query([], nest(*FORMS[form]), Limits(timeout_s=60))
    assert str(refused.value).startswith("line 1, column ")


@pytest.mark.parametrize("text", [nest(*FORMS["date"]), nest("(", ")", 40), "[" * 300, "{" * 300])
def test_every_text_that_is_parsed_is_counted_first(text: str) -> None:
    for check in (lambda: check_query(text, ()), lambda: check_condition(text)):
        with pytest.raises(QueryError, match="deep"):
            check()


def test_what_people_write_is_not_nested_too_deeply() -> None:
    check_query(nest("(", ")", 30), ())
    check_query(nest("coalesce(", ", 2)", 20), ())
    check_query(nest("ARRAY[", "]", 5), ())
    check_query("SELECT " + ", ".join(["date_bin(INTERVAL '1 h', x::timestamp(3))"] * 100), ())


def test_reading_a_query_counts_as_its_time() -> None:
    started = time.monotonic()
    with pytest.raises(QueryError, match=r"stopped: the query took longer than 0\.5 s"):
        run_query([], SLOW, Limits(timeout_s=0.5))
    assert time.monotonic() - started < 60


def test_the_process_that_asks_never_loads_a_parser() -> None:
    code = (
        "import sys\n"
        "from delta_tables.asking.question import Limits\n"
        "from delta_tables.asking.sandbox import run_query\n"
        "with run_query([], 'SELECT 1 AS a', Limits(), condition='a = 1') as answer:\n"
        "    print(list(answer), [name for name in sys.modules if 'sqlglot' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[[(1,)]] []\n"


@pytest.mark.parametrize("query", [nest(*FORMS["date"]), SLOW])
def test_the_command_obeys_its_timeout(query: str, tmp_path: Path) -> None:
    (tmp_path / "kafka" / "topics" / "_delta_log").mkdir(parents=True)
    lake = ["--lake", str(tmp_path), "--timeout", "2"]
    condition = query.removeprefix("SELECT ")
    for args in (["sql", query], ["at", "now", "topics", "--where", condition]):
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "zklake", *args, *lake],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert time.monotonic() - started < 100
        assert done.returncode == QueryError.exit_code
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


def test_a_dashboard_that_was_asked_them_still_answers_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "zklake", "dashboard", "--http", "127.0.0.1:0"]
    with subprocess.Popen(
        [*command, "--lake", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"ZKLAKE_QUERY__TIMEOUT_S": "250"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            wait_until_up(address)
            for form in FORMS.values():
                assert "deep" in fetch(address, nest(*form))["error"]
            asking = [ask_in_background(address, SLOW) for _ in range(2)]
            time.sleep(2)  # into their parsing
            with urllib.request.urlopen(f"{address}healthz", timeout=60) as answer:
                assert answer.read() == b"alive\n"
        finally:
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert time.monotonic() - started < 120
    for one in asking:
        one.wait(60)


def wait_until_up(address: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{address}healthz", timeout=60).close()
            return
        except urllib.error.URLError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def fetch(address: str, query: str) -> dict[str, str]:
    url = f"{address}api/sql?{urlencode({'query': query})}"
    with urllib.request.urlopen(url, timeout=15) as answer:
        found: dict[str, str] = json.load(answer)
    return found


def ask_in_background(address: str, query: str) -> subprocess.Popen[bytes]:
    url = f"{address}api/sql?{urlencode({'query': query})}"
    code = f"import urllib.request; urllib.request.urlopen({url!r}, timeout=60)"
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
