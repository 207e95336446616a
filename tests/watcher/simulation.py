"""One seed, one run: a random schedule of writes, deliveries, cuts and crashes on one thread."""

from __future__ import annotations

import random

import msgspec

from tests.watcher.fake_zookeeper import FakeZooKeeper, Snapshot, parent
from watcher.chronicle import Chronicle
from watcher.messages import Connected, Disconnected, Tick
from watcher.release import Release
from watcher.sealing import Sealed, Sealer
from watcher.tree import Tree
from zklake.events.envelope import Event, Meta, TreeRow, decode

PATHS = ("/a", "/b", "/a/x", "/a/y", "/a/x/1", "/b/x", "/b/y", "/b/y/1", "/b/y/2")


class PlainSealer:
    """Publishes everything."""

    def seal(self, path: str, data: bytes | None) -> Sealed:
        return Sealed((data or b"").decode(), None, None, "00" * 7 + "01", "exact")

    def kind(self, path: str) -> str:
        return "unknown"

    def path(self, path: str) -> str:
        return path


class Log:
    """What Kafka has committed: events, and the last row of every path."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.rows: dict[str, TreeRow | None] = {}
        self.meta: Meta | None = None

    def events(self) -> list[Event]:
        return [decode(record) for record in self.records]


class Simulation:
    def __init__(
        self,
        seed: int,
        *,
        event_zxid: bool = True,
        recursive: bool = True,
        limit: int = 3,
        sealed: frozenset[str] = frozenset(),
        sealer: Sealer | None = None,
        paths: tuple[str, ...] = PATHS,
    ) -> None:
        self.random = random.Random(seed)
        self.paths = paths
        self.sealer = sealer or PlainSealer()
        self.server = FakeZooKeeper(event_zxid=event_zxid, recursive=recursive, sealed=sealed)
        self.log = Log()
        self.limit = limit
        self.at_ms = 1_000_000
        self.up = False
        self.trace: list[str] = []
        self.start()

    # The watcher's life.

    def start(self) -> None:
        """A process starts: it resumes from what is committed, nothing else."""
        meta = self.log.meta
        tree = Tree()
        for path, row in self.log.rows.items():
            if row is not None:
                # Through the wire form, as the real tree topic does it.
                tree.load(path, msgspec.json.decode(msgspec.json.encode(row), type=TreeRow))
        release = Release("c", meta or Meta("log", 1000, 0, 0), tree, self.sealer, batch_events=7)
        self.chronicle = Chronicle(
            release, recursive=self.server.recursive, reads_in_flight=self.limit
        )
        self.chronicle.begin("restart" if meta else "first_start", self.at_ms)
        self.up = False

    def crash(self) -> None:
        self.server.reset()
        self.start()

    def connect(self) -> None:
        if not self.up:
            self.up = True
            self.server.reset()
            self.handle(Connected(1, 1, "fake", self.server.recursive))

    def cut(self) -> None:
        if self.up:
            # Some of what the server sent still arrives before the connection is seen to be gone.
            for _ in range(self.random.randrange(4)):
                self.deliver()
            self.server.reset()
            self.up = False
            self.handle(Disconnected(self.random.choice(("disconnected", "session_expired"))))

    def restore(self, snapshot: Snapshot) -> None:
        """The ensemble comes back from an older state; the new connection shows it."""
        self.connect()
        for _ in range(self.random.randrange(4)):
            self.deliver()
        self.server.reset()
        self.up = False
        self.server.restore(snapshot)
        self.handle(Disconnected("history_reset"))
        # Lost in a crash, it would be found again only while the server's zxid is still behind.
        self.commit_all()

    def handle(self, message: object) -> None:
        self.at_ms += self.random.randrange(3)
        self.chronicle.handle(message, self.at_ms)  # type: ignore[arg-type]
        self.server.asked.extend(self.chronicle.take_requests())

    def deliver(self) -> None:
        if self.server.stream:
            self.handle(self.server.stream.popleft())

    def answer(self) -> None:
        if self.server.asked:
            self.server.answer()

    def commit(self) -> None:
        batch = self.chronicle.release.take()
        if batch is not None:
            self.log.records += batch.events
            self.log.rows.update(batch.rows)
            self.log.meta = batch.meta

    def commit_all(self) -> None:
        while self.chronicle.release.sealed or self.chronicle.release._events:
            self.commit()

    # The writers.

    def write(self) -> None:
        server, rnd = self.server, self.random
        action = rnd.randrange(12)
        if action == 0:
            server.close_session(rnd.randrange(1, 4))
        elif action == 1:
            self.write_multi()
        elif action == 2 and rnd.random() < 0.3:
            server.set_acl(rnd.choice(sorted(server.nodes)))
        else:
            self.write_one(rnd.choice(self.paths), None)

    def write_multi(self) -> None:
        zxid = self.server.begin()
        for path in self.random.choices(self.paths, k=3):
            self.write_one(path, zxid)

    def write_one(self, path: str, zxid: int | None) -> None:
        server, rnd = self.server, self.random
        value = str(rnd.randrange(3)).encode()
        node = server.nodes.get(path)
        if node is not None:
            if rnd.random() < 0.35 and not node.children:
                server.delete(path, zxid)
            else:
                server.set(path, value, zxid)
        elif parent(path) in server.nodes and not server.nodes[parent(path)].owner:
            is_leaf = not any(other.startswith(path + "/") for other in self.paths)
            owner = rnd.randrange(1, 4) if is_leaf and rnd.random() < 0.5 else 0
            server.create(path, value, owner, zxid)

    # The schedule.

    def run(self, steps: int) -> None:
        """A schedule, and the rest that follows it."""
        self.act(steps)
        self.settle()

    def act(self, steps: int) -> None:
        actions = (
            (self.write, 30), (self.deliver, 45), (self.answer, 45), (self.commit, 12),
            (self.connect, 8), (self.cut, 1.5), (self.crash, 0.8), (self.tick, 3),
            (self.frame, 0.3), (self.audit, 0.5),
        )  # fmt: skip
        calls = [call for call, _ in actions]
        weights = [weight for _, weight in actions]
        for call in self.random.choices(calls, weights, k=steps):
            self.trace.append(call.__name__)
            call()

    def tick(self) -> None:
        self.chronicle.allow_audit_reads(2)
        self.handle(Tick())

    def frame(self) -> None:
        self.chronicle.want_frame()

    def audit(self) -> None:
        self.chronicle.want_audit()

    def settle(self) -> None:
        """Writers stop; the watcher catches up; an audit finds the ACLs that changed."""
        self.connect()
        self.drain()
        self.chronicle.want_audit()
        self.drain()
        self.commit_all()

    def drain(self) -> None:
        for _ in range(100_000):
            if self.server.stream:
                self.deliver()
            elif self.server.asked:
                self.answer()
            elif self.chronicle.state.scan is not None:
                self.tick()
            else:
                return
        raise AssertionError("the watcher does not come to rest")
