"""`python -m bench [NAME…] [--quick] [--json]`: figures on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from os import getloadavg

from rich.console import Console

from bench import (
    aged,
    at_rest,
    catch_up,
    executors,
    freshness,
    keep_up,
    kernels,
    lag_fold,
    latency,
    model_bytes,
    one_change,
    pages,
    restart,
    sampling,
    scan,
    storm,
    zookeeper_tax,
)
from bench.figures import Report, describe_machine, draw_table
from bench.stage import Stage
from zklake.logs import configure_logging

BENCHES = (
    ("kernels", kernels.measure),
    ("model_bytes", model_bytes.measure),
    ("scan", scan.measure),
    ("keep_up", keep_up.measure),
    ("zookeeper_tax", zookeeper_tax.measure),
    ("latency", latency.measure),
    ("restart", restart.measure),
    ("freshness", freshness.measure),
    ("one_change", one_change.measure),
    ("at_rest", at_rest.measure),
    ("catch_up", catch_up.measure),
    ("executors", executors.measure),
    ("aged", aged.measure),
    ("sampling", sampling.measure),
    ("lag_fold", lag_fold.measure),
    ("storm", storm.measure),
    ("pages", pages.measure),
)


def run(names: list[str], quick: bool) -> list[Report]:
    """Run benches one after the other, on one stage."""
    reports = []
    with Stage() as stage:
        for name, measure in BENCHES:
            if names and name not in names:
                continue
            print(f"{name} …", file=sys.stderr, flush=True)
            before = getloadavg()[0]
            figures = measure(stage, quick)
            reports.append(Report(name, figures, (before, getloadavg()[0])))
    return reports


def main() -> None:
    """Parse, run, print."""
    names = [name for name, _ in BENCHES]
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="see it work; the numbers are rough")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no bench named {', '.join(sorted(unknown))}: choose from {', '.join(names)}")
    configure_logging("error")
    machine = describe_machine()
    reports = run(options.names, options.quick)
    if options.json:
        figures = {**machine, "quick": options.quick, "benches": [r.describe() for r in reports]}
        print(json.dumps(figures, indent=2))
        return
    Console(width=150, soft_wrap=True).print(draw_table(reports))
    print(
        "{at}, {cores} cores, Python {python}, load average {load:.1f} at the start".format(
            **machine
        )
    )


if __name__ == "__main__":
    main()
