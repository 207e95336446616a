"""Settings of a toy rule; test_recipes.py puts the class into zklake/settings/alert_rules.py."""

from __future__ import annotations

from typing import Literal

from zklake.settings.alert_rules import Rule


class RacklessBroker(Rule):
    """A broker is registered without a rack."""

    rule: Literal["rackless_broker"] = "rackless_broker"
    least_id: int = 0
    """Brokers with a smaller id are not meant."""
