"""The process that reads the lake: killed, stopped, left, starved. Who asks is always answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.question import Limits
from delta_tables.live.reader import Reader
from delta_tables.live.tables import Row, Tables
from tests.delta_tables.small_lake import write_lake
from zklake.errors import LakeError, QueryCancelled

# Much work, little memory: one that runs out of memory dies by itself.
ENDLESS = (
    "SELECT count(*) AS n FROM range(0, 10000000) AS a, range(0, 10000000) AS b "
    "WHERE (SELECT count(*) FROM topics) >= 0"
)
COUNT = "SELECT count(*) AS n FROM topics"
# A quarter of a GiB for a moment.
LARGE = (
    "SELECT count(*) AS n FROM "
    "(SELECT v, count(*) FROM (SELECT value % 1500007 AS v FROM range(0, 3000000)) GROUP BY v)"
)
PATIENT = Limits(timeout_s=300, memory_bytes=1 << 30)


@pytest.fixture
def lake(tmp_path: Path) -> str:
    write_lake(str(tmp_path), "c", {"topics": [{"topic": "a", "valid_from_seq": 1}]})
    return str(tmp_path)


@pytest.fixture
def reader(lake: str) -> Iterator[Reader]:
    reader = Reader(lake, "c", PATIENT)
    yield reader
    reader.close()


@pytest.fixture
def tables(lake: str, reader: Reader) -> Tables:
    tables = Tables(lake, "c", source=reader)
    tables.look()
    return tables


def begin(tables: Tables, pool: ThreadPoolExecutor, reader: Reader) -> Future[list[Row]]:
    """An endless query; it runs when this returns."""
    pid, before = find_pid(reader), count_cpu(find_pid(reader))
    asked = pool.submit(tables.ask, ENDLESS, "topics")
    # 0.3 s of its CPU: nothing else makes it work so long.
    wait_for(lambda: count_cpu(pid) - before > 0.3)
    return asked


def test_a_process_that_is_killed_is_told_of_and_replaced(tables: Tables, reader: Reader) -> None:
    pid = find_pid(reader)
    with ThreadPoolExecutor(1) as pool:
        asked = begin(tables, pool, reader)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(LakeError, match="SIGKILL"):
            asked.result(240)
    assert tables.ask(COUNT, "topics") == [{"n": 1}]
    assert find_pid(reader) != pid


def test_a_process_that_does_not_move_is_replaced(lake: str) -> None:
    reader = Reader(lake, "c", Limits(timeout_s=3))
    tables = Tables(lake, "c", source=reader)
    tables.look()
    pid = find_pid(reader)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(LakeError, match="did not answer within 3 s"):
        tables.ask(COUNT, "topics")
    assert tables.ask(COUNT, "topics") == [{"n": 1}]
    assert find_pid(reader) != pid
    reader.close()


def test_work_ends_with_who_wanted_it_and_others_do_not_notice(
    tables: Tables, reader: Reader
) -> None:
    left, left_later, pid = Cancellation(), Cancellation(), find_pid(reader)
    with ThreadPoolExecutor(2) as pool:
        asked = begin(tables.bind(left), pool, reader)
        other = begin(tables.bind(left_later), pool, reader)
        left.cancel()
        with pytest.raises(QueryCancelled):
            asked.result(240)
        wait_for(lambda: not is_running(pid))
        # It was asked again, and works for it.
        wait_for(lambda: find_pid(reader) != pid and count_cpu(find_pid(reader)) > 2)
        assert not other.done()
        left_later.cancel()
        with pytest.raises(QueryCancelled):
            other.result(240)
    assert tables.ask(COUNT, "topics") == [{"n": 1}]


def test_who_leaves_while_waiting_for_a_turn_costs_nobody_anything(
    tables: Tables, reader: Reader
) -> None:
    pid, left = find_pid(reader), Cancellation()
    with ThreadPoolExecutor(5) as pool:
        running = [begin(tables, pool, reader) for _ in range(4)]
        waiting = pool.submit(tables.bind(left).ask, COUNT, "topics")
        time.sleep(0.5)
        left.cancel()
        with pytest.raises(QueryCancelled):
            waiting.result(240)
        assert find_pid(reader) == pid
        os.kill(pid, signal.SIGKILL)
        for one in running:
            with pytest.raises(LakeError):
                one.result(240)


def test_a_query_that_wants_too_much_memory_fails_alone(lake: str) -> None:
    reader = Reader(lake, "c", Limits(timeout_s=300, memory_bytes=256 << 20))
    tables = Tables(lake, "c", source=reader)
    tables.look()
    large = "SELECT array_agg(a.value) AS n FROM range(0, 1000000000) AS a, topics"
    with pytest.raises(LakeError, match="memory"):
        tables.ask(large, "topics")
    assert tables.ask(COUNT, "topics") == [{"n": 1}]
    reader.close()


def test_it_ends_with_whoever_started_it(lake: str) -> None:
    code = (
        "import sys, time\n"
        "from delta_tables.asking.question import Limits\n"
        "from delta_tables.live.reader import Reader\n"
        "reader = Reader(sys.argv[1], 'c', Limits())\n"
        "reader.look()\n"
        "print(reader.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code, lake], stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    pid = int(started.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    started.kill()
    started.wait()
    started.stdout.close()
    wait_for(lambda: not is_running(pid))


def test_address_space_is_given_back(tables: Tables, reader: Reader) -> None:
    """It is bounded, and what an allocator keeps of it is missing to the next query."""
    tables.ask(COUNT, "topics")
    before = measure_address_space(find_pid(reader))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: tables.ask(LARGE, "topics"), range(8)))
    assert tables.ask(COUNT, "topics") == [{"n": 1}]

    def is_given_back() -> bool:
        tables.look()
        tables.ask(f"{COUNT} -- {time.monotonic()}", "topics")
        return measure_address_space(find_pid(reader)) < before + (400 << 20)

    wait_for(is_given_back)


def measure_address_space(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[0]
    return int(pages) * os.sysconf("SC_PAGESIZE")


def find_pid(reader: Reader) -> int:
    assert reader.pid is not None
    return reader.pid


def count_cpu(pid: int) -> float:
    """Seconds of CPU so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
