"""Memory of the model per znode: a fresh process that holds nothing but a Tree.

`python -m bench.model_bytes ZNODES` is that process. There is no control: bytes do not vary.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys

from bench.figures import Figure
from bench.processes import read_rss_bytes
from bench.stage import Stage
from bench.znodes import list_tree
from watcher.tree import Tree, ZnodeRow


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Resident bytes per znode, path included."""
    znodes = 200_000 if quick else 1_000_000
    command = [sys.executable, "-m", "bench.model_bytes", str(znodes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    return [
        Figure(f"resident bytes per znode, {znodes:,} znodes", [found["each"]], "B", "≤ 300"),
        Figure("of which the path's characters", [found["path"]], "B"),
        Figure("resident while the tree grew, at most", [found["peak"]], "B"),
    ]


def hold_tree(znodes: int) -> dict[str, float]:
    """Fill a tree and look at our own memory before and after."""
    pid, tree, characters, peak = os.getpid(), Tree(), 0, 0
    gc.collect()
    before = read_rss_bytes(pid)
    for number, (path, _) in enumerate(list_tree(znodes)):
        tree.put(path, ZnodeRow(number + 1, number + 2, 3, 0, 0), 0, 0, number.to_bytes(8, "big"))
        characters += len(path)
        if number % 1000 == 0:
            peak = max(peak, read_rss_bytes(pid))
    gc.collect()
    after = read_rss_bytes(pid)
    return {
        "each": (after - before) / len(tree),
        "path": characters / len(tree),
        "peak": (max(peak, after) - before) / len(tree),
    }


if __name__ == "__main__":
    print(json.dumps(hold_tree(int(sys.argv[1]))))
