"""Every page of the story, as a person would open it."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.dashboard.story import HOSTILE_GROUP, HOSTILE_TOPIC


def write_address(page: str, /, **params: str) -> str:
    return f"{page}?{urlencode(params)}" if params else page


# What each must show; the hostile ones show their own names, as text.
ADDRESSES: dict[str, str] = {
    "/": "3 leaders moved, 10 partitions under-replicated for 4 min, group search paused 27 s",
    "/groups": "billing",
    write_address("/groups", sort="-lag", q="TEAM", page="2"): "Page 2 of 2",
    write_address("/group", group_id="billing"): "session of billing_web-a ended",
    write_address("/group", group_id=HOSTILE_GROUP): "STOPPED",
    "/rebalances": "billing_web-a joined",
    write_address("/rebalances", last="24h"): "Each column is 1 h",
    "/topics": "orders",
    write_address("/topic", topic="orders"): "retention.ms",
    write_address("/topic", topic=HOSTILE_TOPIC): "Leaders and ISR",
    "/brokers": "PLAINTEXT://kafka-2.shop.example:9092",
    write_address("/broker", broker_id="2"): "10 partitions for 4 min",
    "/changes": "604800000",
    write_address("/alerts", last="24h"): "rebalance_storm",
    write_address("/search", q="team-00"): "team-001",
    write_address("/at", time="-25m"): "Leaders and ISR",
    write_address("/at", time="-25m", q="orders-3"): "owned by",
    write_address("/at", time="-25m", raw="1"): "broker_membership",
    write_address("/why", group_id="billing"): "member billing_web-b read slower than",
    "/migration": "There is nothing to roll back.",
    write_address("/sql", query="SELECT topic FROM topics WHERE is_open"): "payments",
    write_address("/quality", last="7d"): "first start",
}


def name_api(address: str) -> str:
    """The same as JSON."""
    return "/api/overview" if address == "/" else f"/api{address}"
