"""Metrics that a process declares: named once, in a registry of their own."""

from __future__ import annotations

from prometheus_client import REGISTRY, generate_latest

from zklake.metrics import Metrics, counter, gauge, histogram


class Toy(Metrics):
    PREFIX = "toy"

    eggs = counter("Eggs laid.", "hen")
    hens = gauge("Hens at home.")
    pause_seconds = histogram("Between two eggs.", buckets=(1, 60))


def test_an_attribute_is_a_metric_with_its_name_help_and_labels() -> None:
    toy = Toy()
    toy.eggs.labels("berta").inc(2)
    toy.hens.set(3)
    toy.pause_seconds.observe(30)
    text = generate_latest(toy.registry).decode()
    assert "# HELP toy_eggs_total Eggs laid." in text
    assert 'toy_eggs_total{hen="berta"} 2.0' in text
    assert "toy_hens 3.0" in text
    assert 'toy_pause_seconds_bucket{le="60.0"} 1.0' in text
    assert Toy.list_names() == ["toy_eggs_total", "toy_hens", "toy_pause_seconds"]
    assert [one.labels for one in Toy.list_declared()] == [("hen",), (), ()]


def test_two_of_a_kind_count_apart_and_nothing_is_in_the_default_registry() -> None:
    one, other = Toy(), Toy()
    one.hens.set(1)
    assert other.registry.get_sample_value("toy_hens") == 0
    assert REGISTRY.get_sample_value("toy_hens") is None
