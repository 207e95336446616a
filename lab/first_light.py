"""The first story: a broker dies and comes back, and the lake tells of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.cluster import Cluster
from lab.product import Product

LIVES = (
    "SELECT broker_id, broker_epoch, valid_from_at, valid_to_at, is_open, ended_by "
    "FROM broker_membership ORDER BY broker_id, valid_from_seq"
)

Rows = list[dict[str, Any]]


def tell_first_light(
    cluster: Cluster, product: Product, say: Callable[[str], None], show: Callable[[Rows], None]
) -> Rows:
    """Kill -9 a broker, start it again; returns the rows of broker_membership at the end."""
    count = len(cluster.brokers)
    victim = cluster.brokers[-1]
    show(product.wait_for("every broker", LIVES, lambda rows: len(rows) == count))
    say(f"kill -9 of broker {victim.broker_id}: its session ends after the session timeout")
    victim.kill()
    show(product.wait_for("the end of its life", LIVES, lambda rows: not all(map(_is_open, rows))))
    say(f"starting broker {victim.broker_id} again")
    victim.start()
    rows = product.wait_for("its new life", LIVES, lambda rows: len(rows) == count + 1)
    show(rows)
    return rows


def _is_open(row: dict[str, Any]) -> bool:
    return bool(row["is_open"])
