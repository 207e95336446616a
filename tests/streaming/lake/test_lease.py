from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streaming.lake.lease import FILE_NAME, Lease, hold_lease
from zklake.errors import LakeError

HOLD = """
import sys, threading
from streaming.lake.lease import Lease
Lease(sys.argv[1], "c", 0.6).acquire(threading.Event(), take_over=False, on_lost=print)
print("held", flush=True)
sys.stdin.read()
"""


def read_file(lake: Path) -> dict[str, Any]:
    return dict(json.loads((lake / "c" / FILE_NAME).read_text()))


def acquire(lease: Lease, *, take_over: bool = False) -> list[LakeError]:
    lost: list[LakeError] = []
    lease.acquire(threading.Event(), take_over=take_over, on_lost=lost.append)
    return lost


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_it_is_renewed_and_given_back(tmp_path: Path) -> None:
    lease = Lease(str(tmp_path), "c", stale_s=0.6)
    acquire(lease)
    first = read_file(tmp_path)
    assert first["pid"] == os.getpid()
    assert first["started_at"] <= first["renewed_at"]
    time.sleep(0.4)
    assert read_file(tmp_path)["renewed_at"] > first["renewed_at"]
    lease.release()
    assert list((tmp_path / "c").iterdir()) == []


def test_a_second_stream_is_told_who_writes_and_how_to_take_over(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    lease = Lease(str(tmp_path), "c", stale_s=10)
    with pytest.raises(LakeError, match=rf"process {holder.pid} on .*since 2.*--take-over"):
        acquire(lease)
    assert not lease.is_held
    lease.release()
    assert read_file(tmp_path)["pid"] == holder.pid


def test_a_killed_holder_on_this_machine_does_not_make_anyone_wait(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    holder.wait()
    lease, started = Lease(str(tmp_path), "c", stale_s=120), time.monotonic()
    acquire(lease)
    assert time.monotonic() - started < 60
    assert read_file(tmp_path)["pid"] == os.getpid()
    lease.release()


def test_a_holder_elsewhere_is_judged_by_its_silence_not_by_clocks(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    said = {"host": "h", "pid": 1, "started_at": "2000", "renewed_at": "2999", "machine": "other"}
    (tmp_path / "c" / FILE_NAME).write_text(json.dumps(said))
    lease, started = Lease(str(tmp_path), "c", stale_s=1), time.monotonic()
    acquire(lease)
    assert time.monotonic() - started >= 1
    assert lease.is_held
    lease.release()


def test_two_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    first = Lease(str(tmp_path), "c", stale_s=0.6)
    acquire(first)
    with pytest.raises(LakeError, match="is being written"):
        acquire(Lease(str(tmp_path), "c", stale_s=5))
    other_cluster = Lease(str(tmp_path), "d", stale_s=5)
    acquire(other_cluster)
    first.release()
    other_cluster.release()


def test_who_was_taken_over_is_told_and_leaves_the_lease_alone(tmp_path: Path) -> None:
    first, second = (Lease(str(tmp_path), "c", stale_s=0.6) for _ in range(2))
    lost = acquire(first)
    acquire(second, take_over=True)
    deadline = time.monotonic() + 60
    while not lost:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert "was taken over" in str(lost[0])
    assert not first.is_held
    first.release()
    assert second.is_held
    assert (tmp_path / "c" / FILE_NAME).exists()
    second.release()


def test_held_for_a_while(tmp_path: Path) -> None:
    with hold_lease(str(tmp_path), "c") as lost:
        assert (tmp_path / "c" / FILE_NAME).exists()
        assert not lost.is_set()
    assert list((tmp_path / "c").iterdir()) == []
    with pytest.raises(NotADirectoryError), hold_lease("/dev/null", "c"):
        pass


def test_on_an_object_store_there_is_none() -> None:
    lease = Lease("s3://bucket/lake", "c")
    assert not lease.is_possible
    acquire(lease)
    assert not lease.is_held


def test_a_torn_file_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / FILE_NAME).write_bytes(b'{"host": "h", ')
    lease = Lease(str(tmp_path), "c", stale_s=60)
    acquire(lease)
    assert lease.is_held
    lease.release()
