"""A group of old consumers in the simulation: they read, commit, crash, stop, get stuck, rebalance.

As Kafka's do (facts on the old consumer): who lets go of a partition in a rebalance commits first,
unless it is stuck; a new owner begins at what is committed; a session that ends takes all owners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.incidents.simulation import Simulation

_TOPIC = "orders"


@dataclass
class Place:
    """How far a group has read a partition, and committed that; None: never."""

    position: float
    committed: int | None


@dataclass
class Member:
    """An old consumer, with one thread."""

    name: str
    read_rate: float
    session: int
    is_alive: bool = True
    is_stuck: bool = False
    commits_at: int = 0

    @property
    def reads(self) -> bool:
        """Whether it does anything."""
        return self.is_alive and not self.is_stuck


class Readers:
    """One group that reads the whole topic."""

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._sim, self.name = simulation, name
        self.members: dict[str, Member] = {}
        self.owners: dict[int, str] = {}
        self._places: dict[int, Place] = {}

    def begin(self) -> None:
        """All that there is was read and committed before anybody watched."""
        for number, log in enumerate(self._sim.logs):
            self._places[number] = Place(log.end, int(log.end))
            self._write_offset(number)

    def read(self, number: int) -> None:
        """A second of reading, if somebody does."""
        member = self.members.get(self.owners.get(number, ""))
        if member is not None and member.reads:
            place, log = self._places[number], self._sim.logs[number]
            place.position = min(log.end, place.position + member.read_rate)

    def commit_due(self, second: int) -> None:
        """Members whose time it is commit what they have read."""
        for member in self.members.values():
            if member.reads and second >= member.commits_at:
                self._commit(member)
                member.commits_at = second + self._sim.commit_s

    # What people and machines do.

    def join(self, name: str, read_rate: float | None = None) -> None:
        """A member comes, and the group divides its partitions anew."""
        sim = self._sim
        sim.zxid += 1
        rate = sim.read_rate if read_rate is None else read_rate
        member = Member(name, rate, session=sim.zxid)
        member.commits_at = sim.second + 1 + len(self.members) % 5
        self.members[name] = member
        value = {"version": 1, "subscription": {_TOPIC: 1}, "pattern": "static"}
        path = f"/consumers/{self.name}/ids/{self._name(name)}"
        sim.put("create", "consumer", path, value, session=member.session)
        self.rebalance()

    def stop(self, name: str) -> None:
        """A clean stop: it commits, then closes its session."""
        self._commit(self.members[name])
        self._end_session(name)

    def kill(self, name: str) -> None:
        """kill -9: it reads and commits no more; its session ends when its time is out."""
        self.members[name].is_alive = False
        self._sim.later(self._sim.session_s, lambda _: self._end_session(name))

    def stick(self, name: str, *, is_stuck: bool = True) -> None:
        """Its thread hangs; its session lives, and takes part in rebalances."""
        self.members[name].is_stuck = is_stuck

    def slow(self, name: str, read_rate: float) -> None:
        """It reads at another pace from now on."""
        self.members[name].read_rate = read_rate

    def rewind(self, number: int, records: int) -> None:
        """Somebody sets an offset back, and the owner goes on from there."""
        place = self._places[number]
        place.committed = max(0, (place.committed or 0) - records)
        place.position = place.committed
        self._write_offset(number)

    def rebalance(self) -> None:
        """All let go and claim by Kafka's range formula; it takes a fifth of a second."""
        self.release()
        self.claim()

    def release(self) -> None:
        """All let go; who reads commits first."""
        for number in sorted(self.owners):
            member = self.members.get(self.owners.pop(number))
            if member is not None and member.reads:
                self._commit_one(number)
            self._sim.drop("owner", f"/consumers/{self.name}/owners/{_TOPIC}/{number}")
            self._sim.now_ms += 5

    def claim(self) -> None:
        """All claim by the range formula."""
        names = sorted(self.members)
        each, more = divmod(self._sim.partitions, max(len(names), 1))
        first = 0
        for place, name in enumerate(names):
            count = each + (place < more)
            for number in range(first, first + count):
                self._claim(number, name)
            first += count

    def _claim(self, number: int, name: str) -> None:
        self._sim.now_ms += 40
        self.owners[number] = name
        # A new owner begins at what is committed, else at the end (auto.offset.reset largest).
        place = self._places.setdefault(number, Place(self._sim.logs[number].end, None))
        if place.committed is not None:
            place.position = place.committed
        path = f"/consumers/{self.name}/owners/{_TOPIC}/{number}"
        session = self.members[name].session
        self._sim.put("create", "owner", path, f"{self._name(name)}-0", session=session)

    def _commit(self, member: Member) -> None:
        for number in sorted(self._places):
            if self.owners.get(number) == member.name:
                self._commit_one(number)

    def _commit_one(self, number: int) -> None:
        place = self._places[number]
        if int(place.position) != place.committed:
            place.committed = int(place.position)
            self._write_offset(number)

    def _write_offset(self, number: int) -> None:
        path = f"/consumers/{self.name}/offsets/{_TOPIC}/{number}"
        self._sim.write("offset", path, str(self._places[number].committed))

    def _end_session(self, name: str) -> None:
        if self.members.pop(name, None) is None:
            return
        sim = self._sim
        sim.zxid += 1
        sim.drop("consumer", f"/consumers/{self.name}/ids/{self._name(name)}", sim.zxid)
        for number in [n for n, owner in self.owners.items() if owner == name]:
            del self.owners[number]
            sim.drop("owner", f"/consumers/{self.name}/owners/{_TOPIC}/{number}", sim.zxid)
        sim.now_ms += 50
        self.rebalance()

    def _name(self, name: str) -> str:
        return f"{self.name}_{name}"
