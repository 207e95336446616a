"""A defect in the product, and the same checks as under faults: each is caught, and by which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.e2e.pipeline import Pipeline, running_pipeline
from tests.e2e.pipeline_faults import expire_session, inject, kill_stream, kill_watcher
from tests.e2e.planted import DEFECTS

pytestmark = [pytest.mark.faults, pytest.mark.integration, pytest.mark.timeout(1200)]

_PROGRAM = ("-m", "tests.e2e.planted")


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_it_is_caught(defect: Callable[[], None], tmp_path: Path) -> None:
    dice = Random(1)
    caught: list[str] = []
    with running_pipeline(tmp_path, seed=1, program=(*_PROGRAM, defect.__name__)) as pipeline:
        # Whoever stands still is not waited for as long as one that is right.
        pipeline.patience_s = 90
        try:
            for fault in (kill_watcher, kill_stream, expire_session):
                inject(pipeline, dice, [fault])
                pipeline.measure_recovery()
            check(pipeline, caught)
        except AssertionError as error:
            caught.append(f"it stands still: {str(error).splitlines()[0]}")
    print(f"\n{defect.__name__}: {'; '.join(caught) or 'NOT CAUGHT'}")
    assert caught


def check(pipeline: Pipeline, caught: list[str]) -> None:
    """What each check says, in the words of the first finding."""
    pipeline.storm.stop()
    report = pipeline.audit()
    print({name: told for name, told in report.items() if name != "findings"})
    for finding in report["findings"][:1]:
        caught.append(f"audit: {finding['verdict']} in {finding['table']}")
    records = pipeline.read_log()
    accounts = pipeline.account(records)
    for name in ("unexplained", "phantoms", "seq_faults", "out_of_order"):
        if found := getattr(accounts, name):
            caught.append(f"accounting: {name}, as {found[0]}")
    for table, got, right, _ in pipeline.compare_tables(records):
        caught.append(f"tables: {table} ({got} rows, {right} by the reference)")
