"""`zklake`: the commands, and how errors reach a person. Heavy imports live inside commands."""

from __future__ import annotations

import sys

import typer

from zklake import __version__
from zklake.cli import (
    alerts,
    at,
    config,
    dashboard,
    describe,
    doctor,
    jars,
    lab,
    lake,
    maintain,
    rebuild,
    run,
    sql,
    stream,
    tables,
    watch,
    why,
)
from zklake.errors import ZklakeError

app = typer.Typer(
    name="zklake",
    help="A Kafka cluster's ZooKeeper tree, as history that anyone can query.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(alerts.app, name="alerts")
app.add_typer(config.app, name="config")
app.add_typer(jars.app, name="jars")
app.add_typer(lab.app, name="lab")
app.add_typer(lake.app, name="lake")
app.command("doctor")(doctor.doctor)
app.command("run")(run.run)
app.command("watch")(watch.watch)
app.command("stream")(stream.stream)
app.command("rebuild")(rebuild.rebuild)
app.command("maintain")(maintain.maintain)
app.command("sql")(sql.sql)
app.command("tables")(tables.tables)
app.command("describe")(describe.describe)
app.command("why")(why.why)
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
    """A Kafka cluster's ZooKeeper tree, as history that anyone can query."""


def main() -> None:
    """Run the command; a ZklakeError becomes one line on stderr and its own exit code."""
    try:
        app()
    except ZklakeError as error:
        print(f"error: {_escape_lines(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def _escape_lines(text: str) -> str:
    """An error may quote znodes and rows: other people's bytes, which must not steer a terminal."""
    from zklake.logs import escape

    return "\n".join(map(escape, text.split("\n")))
