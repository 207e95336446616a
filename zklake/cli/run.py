"""`zklake run`: the whole product in one command, on an embedded cluster or on a real one."""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from zklake.cli.interrupts import Interrupts
from zklake.cli.options import AsJson, Cluster, Config, Lake, Log, ZooKeeper, collect_flags
from zklake.errors import SettingsError

if TYPE_CHECKING:
    from lab.demonstration import Wishes
    from zklake.cli.run_display import Display
    from zklake.settings.models import Settings
    from zklake.supervision.part import Site
    from zklake.supervision.product import Product
    from zklake.supervision.run_directory import RunDirectory
    from zklake.supervision.supervisor import Supervisor

_BROKERS = 3


class _Means(NamedTuple):
    """What a run of either kind has."""

    place: RunDirectory
    supervisor: Supervisor
    display: Display
    # Ends what was started.
    stack: ExitStack


def run(
    *,
    zookeeper: ZooKeeper = None,
    log: Log = None,
    cluster: Cluster = None,
    lake: Lake = None,
    config: Config = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of the dashboard.", show_default=False),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help="Directory for logs and the data of an embedded cluster (default: .zklake/run, "
            "or .zklake/run-CLUSTER with --zookeeper).",
            show_default=False,
        ),
    ] = None,
    brokers: Annotated[
        int | None,
        typer.Option(
            min=2, help=f"Brokers of the embedded cluster ({_BROKERS}).", show_default=False
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete the embedded cluster of earlier runs first.")
    ] = False,
    calm: Annotated[
        bool, typer.Option("--calm", help="Do not run scripted incidents on the embedded cluster.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Run the first scripted incident, then stop everything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run watcher, stream, dashboard and auditor for your cluster, or else for an embedded one."""
    from zklake.cli.run_display import Display
    from zklake.settings.load import load_with_origins
    from zklake.supervision.run_directory import RunDirectory
    from zklake.supervision.supervisor import Supervisor, interrupt_main

    flags = collect_flags(zookeeper=zookeeper, log=log, cluster=cluster, lake=lake)
    if http is not None:
        flags["dashboard.http"] = http
    settings, origins = load_with_origins(config, flags)
    named_by = origins.get("zookeeper.connect")
    _check_kind(named_by, fresh=fresh, has_flags=bool(log or cluster or lake))
    is_real = named_by is not None
    path = directory or Path(f".zklake/run-{settings.cluster}" if is_real else ".zklake/run")
    with (
        Interrupts() as interrupts,
        Display() as display,
        RunDirectory(path, fresh=fresh) as place,
        ExitStack() as stack,
    ):
        # What libraries complain of while servers come and go must not tear the display.
        logging.basicConfig(filename=place.logs / "run.log", level=logging.WARNING, force=True)
        supervisor = Supervisor(display, interrupt_main)
        means = _Means(place, supervisor, display, stack)
        try:
            if is_real:
                _run_real(means, settings, config, once=once)
            else:
                wishes = _find_wishes(settings, origins, config)
                _run_embedded(means, wishes, brokers=brokers, calm=calm, once=once, as_json=as_json)
        except KeyboardInterrupt:
            pass
        finally:
            interrupts.is_closing = True
            display.say("stopping; press Ctrl-C again to stop at once")
            supervisor.stop()
            stack.close()
        display.say("everything has stopped")
    if supervisor.error is not None:
        raise supervisor.error


def _check_kind(named_by: str | None, *, fresh: bool, has_flags: bool) -> None:
    if named_by and fresh:
        raise SettingsError(
            f"--fresh is for the embedded cluster, but {named_by} names a real one: "
            "remove its log and its lake yourself"
        )
    if has_flags and not named_by:
        raise SettingsError("--log, --cluster and --lake are for a real cluster: add --zookeeper")


def _run_real(means: _Means, settings: Settings, config: Path | None, *, once: bool) -> None:
    from zklake.cli.stream import find_lake
    from zklake.supervision.part import Addresses, Site, build_parts
    from zklake.supervision.product import Product

    site = Site(
        settings.zookeeper.connect, settings.log.bootstrap, settings.cluster, find_lake(settings)
    )
    means.display.say(
        f"watching {site.zookeeper} as {site.cluster}; log {site.log}; lake {site.lake}"
    )
    page = settings.dashboard
    addresses = Addresses(
        settings.watcher.http,
        settings.stream.http,
        page.http,
        settings.audit.http,
        has_tls=page.tls_cert is not None,
    )
    parts = build_parts(site, addresses, means.place.logs, options=_pass_on(config))
    product = Product(site, parts, means.supervisor)
    means.stack.callback(product.close)
    product.launch_rest()
    _announce(product, means)
    if not once:
        _stay()


def _pass_on(config: Path | None) -> list[str]:
    return ["--config", str(config)] if config else []


def _find_wishes(settings: Settings, origins: dict[str, str], config: Path | None) -> Wishes:
    """What somebody gave, in the file, the environment or as a flag."""
    from lab.demonstration import Wishes

    return Wishes(
        settings.dashboard.http if "dashboard.http" in origins else None,
        settings.watcher.sample_interval_s if "watcher.sample_interval_s" in origins else None,
        _pass_on(config),
        settings.dashboard.tls_cert is not None,
    )


def _run_embedded(
    means: _Means,
    wishes: Wishes,
    *,
    brokers: int | None,
    calm: bool,
    once: bool,
    as_json: bool,
) -> None:
    from lab.demonstration import Demonstration
    from lab.kept_choices import keep_brokers

    display, count = means.display, keep_brokers(means.place, brokers, _BROKERS)
    lab = Demonstration(means.place, count, means.supervisor, wishes, say=display.say)
    lab.start(means.stack)
    page = _announce(lab.product, means, lab.questions)
    loop = None
    if not (calm or once):
        loop = means.stack.enter_context(lab.make_loop(page, display.show_rows))
    if not calm:
        rows = lab.run_first_chapter(page, display.show_rows, must_succeed=once)
        if as_json:
            print(json.dumps(rows, default=str), flush=True)
    if loop:
        loop.run()
    if not once:
        _stay()


def _announce(product: Product, means: _Means, questions: Sequence[str] = ()) -> str:
    """Say what to look at; returns the dashboard's address."""
    page, display, site = product.wait_ready(), means.display, product.site
    display.say(f"everything is running; logs are in {means.place.logs}")
    display.say(f"dashboard: {page}")
    display.say("in another terminal:")
    display.say(f"  {_write_export(site)}")
    for command in ("zklake status", *questions, "zklake sql"):
        display.say(f"  {command}")
    display.say("Ctrl-C stops everything; the next run continues with the same lake")
    return page


def _write_export(site: Site) -> str:
    """What a shell needs so that commands are short."""
    words = [f"ZKLAKE_LAKE={shlex.quote(site.lake)}", f"ZKLAKE_CLUSTER={shlex.quote(site.cluster)}"]
    if shutil.which("zklake") is None:
        words.insert(0, f'PATH="{Path(sys.executable).parent}:$PATH"')
    return " ".join(["export", *words])


def _stay() -> None:
    while True:
        time.sleep(60)
