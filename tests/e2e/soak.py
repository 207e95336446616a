"""`make soak HOURS=n`: everything runs for hours, and it is measured whether anything grows.

Calm in the first half, a fault every ten minutes in the second. At the end the same checks as after
the fault runs: every transaction, every table, the auditor.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import msgspec

from lab.ports import find_free_ports
from tests.e2e.pipeline import Pipeline, running_pipeline
from tests.e2e.pipeline_faults import FAULTS, inject
from tests.e2e.soak_figures import (
    COLUMNS,
    Figures,
    format_row,
    measure_lake,
    measure_pages,
    measure_use,
    read_metrics,
)
from zklake.supervision.child_process import ChildProcess

_LOOKS_PER_HOUR = 6
# Even a soak of minutes has calm looks and looks with faults.
_LEAST_LOOKS = 6
_PAGES = ("/", "/topics", "/changes", "/brokers", "/quality") * 2
_PARTS = ("watch", "stream", "dashboard", "audit")


class Soak:
    """A pipeline with a dashboard and an auditor beside it."""

    def __init__(self, pipeline: Pipeline, period_s: float) -> None:
        self._pipeline, self._began = pipeline, time.monotonic()
        self._dashboard_http, self._audit_http = (
            f"127.0.0.1:{port}" for port in find_free_ports(2)
        )
        where = ["--lake", pipeline.lake, "--cluster", pipeline.cluster]
        self.dashboard = self._start("dashboard", *where, "--http", self._dashboard_http)
        settings = pipeline.directory / "audit.toml"
        settings.write_text(
            f'[audit]\nhttp = "{self._audit_http}"\ninterval_s = {max(10, round(period_s))}\n'
        )
        own = ["--zookeeper", pipeline.zookeeper.connect_string + "/kafka"]
        own += ["--log", pipeline.kafka.bootstrap, "--config", str(settings)]
        self.audit = self._start("audit", "--follow", *where, *own)
        self._batches = (0.0, 0.0)

    def _start(self, name: str, *options: str) -> ChildProcess:
        command = [sys.executable, "-m", "zklake", name, *options]
        return ChildProcess(command, self._pipeline.directory / f"{name}.log")

    def end(self) -> None:
        self.dashboard.stop(30)
        self.audit.stop(30)

    def look(self, faults: list[str]) -> Figures:
        """Measure everything once."""
        pipeline = self._pipeline
        recovery_s = pipeline.measure_recovery()
        processes = (pipeline.watcher.process, pipeline.stream, self.dashboard, self.audit)
        uses = {name: measure_use(one) for name, one in zip(_PARTS, processes, strict=True)}
        audited = read_metrics(self._audit_http)
        files, size = measure_lake(Path(pipeline.lake))
        return Figures(
            (time.monotonic() - self._began) / 60,
            faults,
            pipeline.storm.done,
            {name: use for name, use in uses.items() if use is not None},
            files,
            size,
            self._measure_batch(),
            measure_pages(self._dashboard_http, _PAGES),
            round(audited.get("zklake_audit_rounds_total", 0)),
            round(audited.get("zklake_audit_failures_total", 0)),
            round(audited.get("zklake_audit_unexplained", 0)),
            round(audited.get("zklake_audit_phantom", 0)),
            recovery_s,
        )

    def _measure_batch(self) -> float | None:
        """Seconds of a batch, on the average since the last look; None: a new stream."""
        metrics = read_metrics(self._pipeline.find_stream_http())
        count = metrics.get("zklake_stream_batch_seconds_count", 0.0)
        total = metrics.get("zklake_stream_batch_seconds_sum", 0.0)
        (former_count, former_total), self._batches = self._batches, (count, total)
        if count <= former_count:
            return None
        return (total - former_total) / (count - former_count)


@contextmanager
def soaking(directory: Path, period_s: float) -> Iterator[tuple[Pipeline, Soak]]:
    with running_pipeline(directory, seed=1, rate=20) as pipeline:
        soak = Soak(pipeline, period_s)
        try:
            yield pipeline, soak
        finally:
            soak.end()


def run(hours: float, directory: Path) -> list[str]:
    """What was found, in words; the figures are printed as they come."""
    looks = max(_LEAST_LOOKS, round(hours * _LOOKS_PER_HOUR))
    period_s, dice = hours * 3600 / looks, Random(1)
    found = []
    _say(f"| {COLUMNS} |\n|{'---|' * (COLUMNS.count('|') + 1)}")
    with soaking(directory, period_s) as (pipeline, soak):
        for number in range(looks):
            time.sleep(period_s)
            chosen = [dice.choice(FAULTS)] if number >= looks / 2 else []
            inject(pipeline, dice, chosen)
            figures = soak.look([fault.__name__ for fault in chosen])
            with (directory / "soak.jsonl").open("ab") as file:
                file.write(msgspec.json.encode(figures) + b"\n")
            _say(format_row(figures))
            found += _judge(figures)
        found += _judge_end(pipeline)
    return found


def _judge(figures: Figures) -> list[str]:
    place, found = f"minute {figures.minute:.0f}", list[str]()
    if figures.unexplained or figures.phantom:
        found.append(f"{place}: the auditor found {figures.unexplained} and {figures.phantom}")
    found += [f"{place}: {name} has ended" for name in _PARTS if name not in figures.parts]
    if figures.page_s is None:
        found.append(f"{place}: a page was not answered")
    return found


def _judge_end(pipeline: Pipeline) -> list[str]:
    """The checks of the fault runs."""
    pipeline.storm.stop()
    report = pipeline.audit()
    records = pipeline.read_log()
    accounts = pipeline.account(records)
    differences = pipeline.compare_tables(records)
    _say(f"\n{len(records):,} records: {accounts}")
    found = [f"audit: {one['says']}" for one in report["findings"]]
    found += [f"tables: {one[0]} differs" for one in differences]
    return found if accounts.is_clean else [*found, f"accounting: {accounts}"]


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    """`python -m tests.e2e.soak HOURS`."""
    try:
        hours = float(sys.argv[1])
    except (IndexError, ValueError):
        sys.exit("say for how many hours: make soak HOURS=3")
    directory = Path(tempfile.mkdtemp(prefix="zklake-soak-"))
    _say(f"{hours} h in {directory}")
    found = run(hours, directory)
    _say("\n".join(found) or "nothing lost, nothing twice, nobody ended")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
