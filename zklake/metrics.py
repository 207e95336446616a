"""How a process declares what it counts: each metric once, with its name, help and labels.

A class of metrics is a list of declarations; an instance has one prometheus_client metric for each,
in a registry of its own. What the lake says is declared in dashboard/metrics/family.py: those
numbers are read from tables when scraped, and no process counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

M = TypeVar("M", bound=Counter | Gauge | Histogram)


class Declared(Generic[M]):
    """One metric; it is called as the attribute that it is assigned to."""

    def __init__(
        self, kind: type[M], says: str, labels: tuple[str, ...], buckets: Sequence[float] = ()
    ) -> None:
        self.kind: type[M] = kind
        self.says, self.labels = says, labels
        # Only a histogram has any.
        self._more = {"buckets": buckets} if buckets else {}

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, metrics: None, owner: type) -> Declared[M]: ...
    @overload
    def __get__(self, metrics: Metrics, owner: type) -> M: ...
    def __get__(self, metrics: Metrics | None, owner: type) -> Declared[M] | M:
        if metrics is None:
            return self
        # From here on the instance has the attribute itself.
        made: M = metrics.__dict__[self.name]
        return made

    def make(self, prefix: str, registry: CollectorRegistry) -> M:
        """The metric, registered."""
        name = f"{prefix}_{self.name}"
        # As a callable of anything: the kinds take different options.
        kind: Callable[..., M] = self.kind
        return kind(name, self.says, self.labels, registry=registry, **self._more)


def counter(says: str, *labels: str) -> Declared[Counter]:
    """What only grows; Prometheus shows it as `<name>_total`."""
    return Declared(Counter, says, labels)


def gauge(says: str, *labels: str) -> Declared[Gauge]:
    """What goes up and down."""
    return Declared(Gauge, says, labels)


def histogram(says: str, *labels: str, buckets: Sequence[float]) -> Declared[Histogram]:
    """How observations are spread over these upper bounds."""
    return Declared(Histogram, says, labels, buckets)


class Metrics:
    """The metrics of one process; a subclass gives the prefix and the declarations."""

    PREFIX: ClassVar[str]

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for declared in self.list_declared():
            self.__dict__[declared.name] = declared.make(self.PREFIX, self.registry)

    @classmethod
    def list_declared(cls) -> list[Declared[Any]]:
        """Every declaration, in the order of the class."""
        return [value for value in vars(cls).values() if isinstance(value, Declared)]

    @classmethod
    def list_names(cls) -> list[str]:
        """Every name as it is scraped."""
        return [
            f"{cls.PREFIX}_{one.name}" + ("_total" if one.kind is Counter else "")
            for one in cls.list_declared()
        ]
