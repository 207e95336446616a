"""What can be there: a member, an owner, a topic, a commit. Plain values; a life is a seq."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Group(NamedTuple):
    """A consumer group, and who keeps its state."""

    coordinator: str
    group_id: str


class Subject(NamedTuple):
    """What has a lag, or an owner."""

    coordinator: str
    group_id: str
    topic: str
    partition: int

    @property
    def group(self) -> Group:
        """Whose it is."""
        return Group(self.coordinator, self.group_id)


@dataclass(frozen=True)
class Living:
    """A state of something that lives: since which event, in which life, how that life began."""

    seq: int
    life: int
    born_by: str
    czxid: int | None


@dataclass(frozen=True)
class Member(Living):
    """A member of a group; what it subscribed to may not be known."""

    pattern: str | None
    subscription: dict[str, int] | None
    session: int | None


@dataclass(frozen=True)
class Owner(Living):
    """Who consumes a partition; the name may not be known."""

    owner: str | None
    member_id: str | None
    session: int | None


@dataclass(frozen=True)
class Topic(Living):
    """A topic; its czxid tells its incarnations apart."""

    partitions: tuple[int, ...] | None
    version: int | None


@dataclass(frozen=True)
class Commit:
    """A commit; the offset may not be known. `zxid`: of the write, in ZooKeeper."""

    seq: int
    offset: int | None
    at: int | None
    zxid: int | None

    @property
    def life(self) -> int:
        """Each commit is one of its own."""
        return self.seq
