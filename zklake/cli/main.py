"""`zklake`: the commands, and how errors reach a person. Heavy imports live inside commands."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import typer

from zklake import __version__
from zklake.cli import (
    alerts,
    at,
    audit,
    backfill,
    config,
    dashboard,
    describe,
    doctor,
    erase,
    jars,
    lab,
    lake,
    maintain,
    migration,
    rebuild,
    run,
    sql,
    status,
    stream,
    tables,
    watch,
    why,
)
from zklake.cli.extras import name_extra
from zklake.cli.listing import Listing
from zklake.errors import ZklakeError

app = typer.Typer(
    name="zklake",
    cls=Listing,
    help="The history of a Kafka cluster's ZooKeeper tree, in tables that anyone can query.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Importing Rich takes longer than all the rest of `--help`.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(alerts.app, name="alerts", cls=Listing)
app.add_typer(config.app, name="config", cls=Listing)
app.add_typer(jars.app, name="jars", cls=Listing)
app.add_typer(lab.app, name="lab", cls=Listing)
app.add_typer(lake.app, name="lake", cls=Listing)
app.command("doctor")(doctor.doctor)
app.command("status")(status.status)
app.command("run")(run.run)
app.command("watch")(watch.watch)
app.command("stream")(stream.stream)
app.command("rebuild")(rebuild.rebuild)
app.command("backfill")(backfill.backfill)
app.command("maintain")(maintain.maintain)
app.command("erase")(erase.erase)
app.command("audit")(audit.audit)
app.command("sql")(sql.sql)
app.command("tables")(tables.tables)
app.command("describe")(describe.describe)
app.command("why")(why.why)
app.command("migration")(migration.migration)
app.command("dashboard")(dashboard.dashboard)
# A time ago (-15m, -1h) looks like options.
app.command(
    "at", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]}
)(at.at)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"zklake {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """The history of a Kafka cluster's ZooKeeper tree, in tables that anyone can query."""


def main() -> None:
    """Run the command; a ZklakeError becomes one line on stderr and its own exit code."""
    code = _run()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            _complain(f"cannot write the result: {error.strerror}")
        # Else the interpreter tries again at its end, and says so.
        null = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(null, descriptor)
        code = code or 1
    # CPython remembers that an interrupt met a text under exec (a dataclass that was being
    # imported), and `python -m` would then end by SIGINT; a text that ends well makes it forget.
    exec("")  # noqa: S102
    sys.exit(code)


def _run() -> int | str | None:
    try:
        app()
    except SystemExit as ended:
        return ended.code
    except ZklakeError as error:
        _complain(str(error))
        return error.exit_code
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = name_extra(sys.argv[1] if len(sys.argv) > 1 else "", package)
        if extra is None:
            raise
        _complain(f"{package} is not installed: pip install 'zklake[{extra}]'")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _complain(text: str) -> None:
    """An error may quote znodes and rows: other people's bytes, which must not steer a terminal."""
    from zklake.logs import escape

    # Nobody may be reading: `2>&1 | head`. The exit code stays that of the error.
    with suppress(BrokenPipeError):
        print("error: " + "\n".join(map(escape, text.split("\n"))), file=sys.stderr)
