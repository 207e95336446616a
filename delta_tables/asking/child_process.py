"""A process of our own code beside this one, which answers questions: how it starts and ends.

It gets of our secrets only the keys of a remote lake, and dies with a signal that may be explained.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from delta_tables.asking.lakes import Lake, is_remote

# Rust aborts when it gets no memory; the kernel kills, or the stack runs over.
MEMORY_SIGNALS = (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS)
# The only variables it gets of ours: where libraries lie, and the keys of a remote lake.
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_STORES = ("AWS_", "AZURE_", "GOOGLE_")


def start_child(
    module: str,
    lakes: Sequence[Lake],
    *arguments: str,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start `python -m module`."""
    return subprocess.Popen(
        # -P: no module may be found in the directory somebody happens to stand in.
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env=choose_environment(lakes),
        start_new_session=True,  # Ctrl-C is ours to answer
    )


def choose_environment(lakes: Sequence[Lake]) -> dict[str, str]:
    """Its variables."""
    chosen = {name: os.environ[name] for name in _LIBRARIES if name in os.environ}
    if any(is_remote(lake.path) for lake in lakes):
        chosen |= {name: text for name, text in os.environ.items() if name.startswith(_STORES)}
    root = str(Path(__file__).parents[2])
    # Every arena takes address space, which is bounded: of malloc, and of Arrow's own allocator.
    # jemalloc, deltalake's, would keep for good what queries gave back: a GiB of it.
    return {
        **chosen,
        "PYTHONPATH": root,
        "RUST_BACKTRACE": "0",
        "MALLOC_ARENA_MAX": "2",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "_RJEM_MALLOC_CONF": "retain:false,narenas:2",
    }


def stop_child(process: subprocess.Popen[bytes]) -> None:
    """End it, whatever it is doing."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
