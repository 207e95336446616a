"""The settings of alerts: which incidents there are, who is notified, where that is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from zklake.settings.alert_notifiers import AnyNotifier, Notifier
from zklake.settings.alert_rules import RULES, AnyRule, Rule, Seconds
from zklake.settings.group import Group
from zklake.settings.values import Listen


class AlertsSettings(Group):
    """`zklake alerts run`: the fields of rules and notifiers are in docs/alerts.md."""

    rules: tuple[AnyRule, ...] = ()
    """Rules, as tables [[alerts.rules]]; none: each of them as it is by default."""
    notifiers: tuple[AnyNotifier, ...] = ()
    """Who is notified, as tables [[alerts.notifiers]]."""
    journal: Annotated[str, Field(min_length=1)] = "./zklake-alerts.sqlite"
    """File in which `zklake alerts run` keeps what it has sent; of one cluster."""
    interval_s: Annotated[Seconds, Field(ge=0.1)] = 5
    """Time between two looks at the lake."""
    http: Listen | None = None
    """Where `zklake alerts run` answers /healthz, /readyz and /metrics; not set: nowhere."""
    give_up_s: Annotated[Seconds, Field(ge=1)] = 86_400
    """What could not be sent for so long is given up, and that is written down."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        _check_differ("rules", (rule.title for rule in self.rules))
        _check_differ("notifiers", (notifier.title for notifier in self.notifiers))
        return self

    def list_rules(self) -> tuple[Rule, ...]:
        """The rules that hold."""
        return self.rules or tuple(rule() for rule in RULES)

    def list_notifiers(self) -> tuple[Notifier, ...]:
        """Who is notified."""
        return self.notifiers


def _check_differ(what: str, titles: Iterable[str]) -> None:
    listed = list(titles)
    if twice := sorted({title for title in listed if listed.count(title) > 1}):
        raise ValueError(f"{what}: {', '.join(twice)} is there twice; give each a name of its own")
