"""Every page of the story, as a person would open it."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC


def write_address(page: str, /, **params: str) -> str:
    return f"{page}?{urlencode(params)}" if params else page


# What each must show; the hostile ones show their own names, as text.
ADDRESSES: dict[str, str] = {
    "/": "broker 2 registered again after 1 min 30 s",
    "/groups": "billing",
    write_address("/groups", sort="-lag", q="TEAM", page="2"): "Page 2 of 2",
    write_address("/group", group_id="billing"): "session of billing_web-a ended",
    write_address("/group", group_id=HOSTILE_GROUP): "STOPPED",
    "/rebalances": "billing_web-a joined",
    write_address("/rebalances", last="24h"): "Each column is 1 h",
    "/topics": "orders",
    write_address("/topic", topic="orders"): "retention.ms",
    write_address("/topic", topic=HOSTILE_TOPIC): "partition 0",
    "/brokers": "PLAINTEXT://kafka-2.shop.example:9092",
    "/changes": "604800000",
    write_address("/at", time="-25m"): "broker_membership",
    write_address("/why", group_id="billing"): "member billing_web-a was lost",
    write_address("/sql", query="SELECT topic FROM topics WHERE is_open"): "payments",
    write_address("/quality", last="7d"): "first start",
}


def name_api(address: str) -> str:
    """The same as JSON."""
    return "/api/overview" if address == "/" else f"/api{address}"
