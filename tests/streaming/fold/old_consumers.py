"""Old consumers as Kafka's are: each lets go of all it owns, computes the formula, and claims.

They react one by one, in an order that dice throw, some twice, and triggers come meanwhile.
"""

from __future__ import annotations

import json
import random

from tests.streaming.fold.group_log import GROUP, GroupLog

_WISHES: tuple[tuple[str, dict[str, int]], ...] = (
    ("static", {"t": 1}),
    ("static", {"t": 3}),
    ("static", {"t": 2, "u": 1}),
    ("white_list", {"[tu]": 2}),
)


class OldConsumers:
    """A group, and the log of what it does."""

    def __init__(self, seed: int) -> None:
        self.dice, self.log = random.Random(f"old/{seed}"), GroupLog()
        self.topics = {"t": self.dice.randint(1, 8)}
        self.log.topic("t", self.topics["t"])
        self.members: dict[str, dict[str, int]] = {}
        self.owners: dict[tuple[str, int], str] = {}
        self.waiting: list[str] = []
        self.joined = 0

    def run(self, length: int) -> GroupLog:
        """So many events, and time enough to be over."""
        while len(self.log.events) < length:
            self.log.now_ms += self.dice.choice((0, 1, 5, 40, 300, 1900, 2400, 2600, 10_100))
            if self.waiting and self.dice.random() < 0.75:
                self._rebalance(self.waiting.pop(self.dice.randrange(len(self.waiting))))
            else:
                self._trigger()
        self.log.wait(70_000)
        return self.log

    def _trigger(self) -> None:
        match self.dice.randrange(8):
            case 0 | 1 | 2 if len(self.members) < 5:
                self._join()
            case 3 | 4 | 5 if self.members:
                self._leave(self.dice.choice(sorted(self.members)))
            case 6:
                self.topics["t"] += self.dice.choice((0, 1))
                self.log.topic("t", self.topics["t"], op="set")
            case 7 if "u" not in self.topics:
                self.topics["u"] = self.dice.randint(1, 3)
                self.log.topic("u", self.topics["u"])
            case _:
                return
        again = [m for m in sorted(self.members) if self.dice.random() < 0.2]
        self.waiting = [*sorted(self.members), *again]

    def _join(self) -> None:
        # Nine and ten: threads are sorted as strings.
        name = f"g_{8 + self.joined}"
        self.joined += 1
        pattern, wish = self.dice.choice(_WISHES[: self.dice.choice((1, 4))])
        self.members[name] = dict(wish)
        if pattern != "static":
            self.members[name] = dict.fromkeys(("t", "u"), 2)
        data = json.dumps({"version": 1, "pattern": pattern, "subscription": wish})
        self.log.join(name, data=data)

    def _leave(self, name: str) -> None:
        del self.members[name]
        held = [key for key, thread in self.owners.items() if thread.rsplit("-", 1)[0] == name]
        paths = [f"/consumers/{GROUP}/owners/{topic}/{number}" for topic, number in held]
        doomed = [("consumer", f"/consumers/{GROUP}/ids/{name}"), *(("owner", p) for p in paths)]
        self.dice.shuffle(doomed)
        for kind, path in doomed:
            self.log.drop(kind, path, closes=True)
        for key in held:
            del self.owners[key]

    def _rebalance(self, name: str) -> None:
        if name not in self.members:
            return
        for key in [k for k, thread in self.owners.items() if thread.rsplit("-", 1)[0] == name]:
            del self.owners[key]
            self.log.release(key[1], topic=key[0])
        mine = [(key, t) for key, t in self._assign() if t.rsplit("-", 1)[0] == name]
        if any(key in self.owners for key, _ in mine):
            # Somebody holds it still: it tries again later.
            self.waiting.append(name)
            return
        self.dice.shuffle(mine)
        for key, thread in mine:
            self.owners[key] = thread
            path = f"/consumers/{GROUP}/owners/{key[0]}/{key[1]}"
            after_ms = self.dice.choice((0, 3, 20))
            session = self.log.sessions[name]
            self.log.put("create", "owner", path, thread, session=session, after_ms=after_ms)

    def _assign(self) -> list[tuple[tuple[str, int], str]]:
        assigned = []
        for topic, count in self.topics.items():
            threads = sorted(
                f"{name}-{i}"
                for name, wish in self.members.items()
                for i in range(wish.get(topic, 0))
            )
            sizes = [
                count // len(threads) + (i < count % len(threads)) for i in range(len(threads))
            ]
            takers = [
                thread for thread, size in zip(threads, sizes, strict=True) for _ in range(size)
            ]
            assigned += [((topic, number), taker) for number, taker in enumerate(takers)]
        return assigned
