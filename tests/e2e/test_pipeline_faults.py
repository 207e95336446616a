"""The whole pipeline under several faults at once: nothing lost, nothing twice, all else declared.

A failing seed is shown again by `make test-faults SEEDS=n`, or FAULT_SEEDS=n and this file alone.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from statistics import median

import pytest

from tests.e2e.pipeline import running_pipeline
from tests.e2e.pipeline_faults import FAULTS, choose_faults, inject

pytestmark = [pytest.mark.faults, pytest.mark.integration, pytest.mark.timeout(2400)]

SEEDS = [int(seed) for seed in (os.environ.get("FAULT_SEEDS") or "1 2").split()]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_fault_alone_and_beside_others(seed: int, tmp_path: Path) -> None:
    dice = Random(seed)
    done: Counter[str] = Counter()
    recovered: defaultdict[str, list[float]] = defaultdict(list)
    with running_pipeline(tmp_path, seed=seed) as pipeline:
        for wanted in dice.sample(FAULTS, len(FAULTS)):
            faults = choose_faults(dice, wanted)
            names = [fault.__name__ for fault in faults]
            print(f"seed {seed}: {' + '.join(names)}", flush=True)
            inject(pipeline, dice, faults)
            recovered[wanted.__name__].append(pipeline.measure_recovery())
            done.update(names)
        pipeline.storm.stop()
        report = pipeline.audit()
        records = pipeline.read_log()
        accounts = pipeline.account(records)
        differences = pipeline.compare_tables(records)
    print(f"\nseed {seed}: {accounts}\nfaults: {dict(done)}")
    for name, seconds in sorted(recovered.items()):
        print(f"  {name:20} p50 {median(seconds):5.1f} s  max {max(seconds):5.1f} s")
    assert accounts.is_clean, str(accounts)
    assert all(accounts.counts[kind] > 0 for kind in ("published", "sealed", "redacted"))
    assert differences == []
    assert report["findings"] == []
    assert report["znodes"] > 0
