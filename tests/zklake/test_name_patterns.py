from __future__ import annotations

from zklake.name_patterns import OUR_TOPICS, Names


def test_excluded_wins_over_included() -> None:
    names = Names(("pay-*", "orders"), ("*-test",))
    held = [n for n in ("pay-a", "pay-a-test", "orders", "orders2", "PAY-a") if names.holds(n)]
    assert held == ["pay-a", "orders"]
    assert not Names((), ()).holds("a")


def test_our_own_topics_are_left_out() -> None:
    topics = Names(exclude=(OUR_TOPICS, "__consumer_offsets"))
    assert not topics.holds("zklake.prod")
    assert not topics.holds("zklake.prod.tree")
    assert topics.holds("zklakes")
    assert topics.holds("a\nb")
