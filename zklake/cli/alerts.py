"""`zklake alerts`: notify people of what goes wrong, look at it, and try rules on the past."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zklake.cli.alert_rows import describe_test, sum_up, tabulate, write
from zklake.cli.options import AsJson, Cluster, Config, Lake, collect_flags
from zklake.cli.shell_completion import complete_rule

if TYPE_CHECKING:
    from zklake.settings.alert_rules import Rule
    from zklake.settings.alerts import AlertsSettings
    from zklake.settings.models import Settings

app = typer.Typer(help="Send, list and test alerts.", no_args_is_help=True)

RuleName = Annotated[
    str,
    typer.Argument(
        metavar="RULE",
        help="A rule from the settings, or the name of any rule.",
        autocompletion=complete_rule,
    ),
]
Since = Annotated[
    str,
    typer.Option("--since", metavar="TIME", help="Start of the time range: 30d, 6h, or ISO 8601."),
]
Until = Annotated[
    str, typer.Option("--until", metavar="TIME", help="End of the time range, in the same forms.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Override a value of the rule: for_s=300, level=STALLED. Repeatable.",
        show_default=False,
    ),
]
Once = Annotated[
    bool, typer.Option("--once", help="Check once, try once to send what is due, then exit.")
]
Most = Annotated[int, typer.Option("--most", min=0, help="How many messages to show.")]
_AGO = re.compile(r"(?:\d{1,6}[wdhms])+")


@app.callback()
def options() -> None:
    """Send, list and test alerts."""


@app.command("run")
def run(
    *, once: Once = False, lake: Lake = None, cluster: Cluster = None, config: Config = None
) -> None:
    """Check the lake every few seconds and send new incidents to the configured notifiers."""
    import signal
    import threading

    from alerts import daemon
    from zklake.logs import configure_logging
    from zklake.phrases import format_count

    settings = _load(config, lake, cluster)
    configure_logging()
    alerts = settings.alerts
    if once:
        sent = daemon.run_once(settings.lake.path, settings.cluster, alerts)
        print(f"{format_count(sent, 'message')} sent", file=sys.stderr)
        return
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: stopping.set())
    rules = format_count(len(alerts.list_rules()), "rule")
    counts = f"{rules}, {format_count(len(alerts.list_notifiers()), 'notifier')}"
    print(f"alerts for {settings.cluster}: {counts}; Ctrl-C stops", file=sys.stderr, flush=True)
    daemon.run(settings.lake.path, settings.cluster, alerts, stopping)


@app.command("list")
def list_(
    *,
    most: Most = 20,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List open incidents and the latest messages."""
    from alerts.present import read_present
    from zklake.cli.answers import lay_out

    settings = _load(config, lake, cluster)
    now = datetime.now(UTC)
    present = read_present(settings.lake.path, settings.cluster, settings.alerts, now, most=most)
    if present.is_blind:
        print(
            f"the lake {settings.lake.path}/{settings.cluster} is empty: open incidents are shown "
            "as the journal last recorded them",
            file=sys.stderr,
        )
    if as_json:
        deliveries = [
            {**one, "created_at": write(one["created_at"]), "done_at": write(one["done_at"])}
            for one in present.deliveries
        ]
        shown = [one.describe() for one in present.incidents]
        print(json.dumps({"open": shown, "deliveries": deliveries}, indent=1))
        return
    print(f"open incidents: {len(present.incidents)}")
    print(*lay_out(*tabulate(present.incidents)), sep="\n")
    names = ("created_at", "event", "incident_id", "notifier", "state", "attempts", "error")
    print(f"\nlatest messages: {len(present.deliveries)}")
    print(*lay_out(names, [[one[name] for name in names] for one in present.deliveries]), sep="\n")


@app.command("test")
def try_rule(
    rule: RuleName,
    *,
    since: Since = "30d",
    until: Until = "now",
    sets: Sets = None,
    lake: Lake = None,
    cluster: Cluster = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show when a rule would have fired in the past."""
    from alerts.evaluation import backtest
    from delta_tables.asking.moments import find_doubts
    from zklake.cli.answers import print_rows
    from zklake.errors import QueryError

    settings = _load(config, lake, cluster)
    chosen = choose_rule(settings.alerts, rule, sets or [])
    now = datetime.now(UTC)
    start, end = _read_time(since, now), _read_time(until, now)
    if start >= end:
        raise QueryError("--since must be before --until")
    evaluation, found = backtest(settings.lake.path, settings.cluster, chosen, start, end)
    if evaluation is None:
        raise QueryError(
            f"the lake {settings.lake.path}/{settings.cluster} has none of the tables that "
            f"{chosen.kind} reads; choose another lake with --lake and --cluster"
        )
    for doubt in find_doubts(settings.lake.path, settings.cluster, start):
        print(f"{write(start)}: {doubt}", file=sys.stderr)
    if as_json:
        print(json.dumps(describe_test(chosen, start, evaluation.horizon, found), indent=1))
        return
    print_rows(*tabulate(found), "table")
    print(sum_up(chosen, start, evaluation.horizon, found), file=sys.stderr)


def choose_rule(alerts: AlertsSettings, name: str, sets: list[str]) -> Rule:
    """The rule of that name with other values; SettingsError says which there are."""
    from pydantic import ValidationError

    from zklake.errors import SettingsError
    from zklake.settings.alert_rules import RULES

    known = {**{kind().kind: kind() for kind in RULES}, **{r.title: r for r in alerts.list_rules()}}
    if name not in known:
        raise SettingsError(f"no rule {name!r}; use one of: {', '.join(known)}")
    rule = known[name]
    values = {**rule.model_dump(exclude_unset=True), **dict(_read_set(rule, one) for one in sets)}
    try:
        return type(rule).model_validate(values)
    except ValidationError as error:
        said = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        raise SettingsError("\n  ".join([f"--set does not fit {name}:", *said])) from error


def _read_set(rule: Rule, text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    field = type(rule).model_fields.get(name)
    is_list = field is not None and isinstance(field.default, tuple)
    return name, [part.strip() for part in value.split(",") if part] if is_list else value


def _read_time(text: str, now: datetime) -> datetime:
    from delta_tables.live.span import read_moment

    return read_moment(f"-{text}" if _AGO.fullmatch(text) else text, now).at


def _load(config: Any, lake: str | None, cluster: str | None) -> Settings:
    from zklake.settings.load import load_settings

    return load_settings(config, collect_flags(lake=lake, cluster=cluster))
