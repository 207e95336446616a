from __future__ import annotations

import subprocess
import sys

import pytest

from streaming import memory

# Small blocks, and one behind them that stays: without help malloc keeps what was before it.
_FREE_IN_A_THREAD = """
import ctypes, threading
from bench.processes import read_rss_bytes
from os import getpid
from streaming.memory import release_memory

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p

def write():
    blocks = [libc.malloc(1000) for _ in range(60_000)]
    for block in blocks[:-1]:
        ctypes.memset(block, 1, 1000)
        libc.free(ctypes.c_void_p(block))

thread = threading.Thread(target=write)
thread.start()
thread.join()
before = read_rss_bytes(getpid())
release_memory()
print(before - read_rss_bytes(getpid()))
"""


@pytest.mark.skipif(memory._trim is None, reason="this libc is not glibc")
def test_what_a_thread_has_freed_is_given_back() -> None:
    command = [sys.executable, "-c", _FREE_IN_A_THREAD]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(told) > 40_000_000
