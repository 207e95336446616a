"""ZooKeeper's files with a small past of a Kafka cluster, and a live log that follows it."""

from __future__ import annotations

from pathlib import Path

from tests.streaming.story import registration
from tests.watcher.txnlog.writing import (
    CLOSE_SESSION,
    CREATE,
    DELETE,
    MULTI,
    SET,
    START_MS,
    closed,
    create,
    multi,
    record,
    set_data,
    text,
    write_log,
    write_snapshot,
)
from zklake.events.envelope import SEQ_PER_SECOND, Event, Frame, Gap, Stat

BROKER, CONTROLLER = "/brokers/ids/1", "/controller"
TOPIC_ROOT = "/brokers/topics/t/partitions/0"
STATE = f"{TOPIC_ROOT}/state"
REIGN = b'{"version":1,"brokerid":1,"timestamp":"1"}'
PARENTS = (
    "/brokers",
    "/brokers/ids",
    "/brokers/topics",
    "/brokers/topics/t",
    "/brokers/topics/t/partitions",
    TOPIC_ROOT,
)
# The transactions of `write_files`.
BORN, FIRST_SET, DIED, BACK, LAST = 7, 10, 30, 31, 33


def write_files(directory: Path, last: int = LAST) -> Path:
    """A broker comes, reigns, leads a partition, dies, and comes back."""
    directory.mkdir(exist_ok=True)
    first = [record(n, CREATE, create(path, b"")) for n, path in enumerate(PARENTS, start=1)]
    first += [
        _register(BORN, session=7),
        record(8, CREATE, create(CONTROLLER, REIGN, 9, True), session=7),
        record(9, CREATE, create(STATE, make_leader(0))),
    ]
    later = [
        record(zxid, SET, set_data(STATE, make_leader(zxid), zxid - FIRST_SET + 1))
        for zxid in range(FIRST_SET, DIED)
    ]
    later += [
        record(DIED, CLOSE_SESSION, closed(CONTROLLER, BROKER), session=7),
        _register(BACK, session=8),
        record(32, CREATE, create("/admin", b"")),
        record(33, DELETE, text("/admin")),
    ]
    write_snapshot(directory, 0)
    write_log(directory, 1, first)
    write_log(directory, FIRST_SET, later[: last - FIRST_SET + 1])
    return directory


def make_leader(epoch: int) -> bytes:
    fields = f'"controller_epoch":1,"leader":1,"version":1,"leader_epoch":{epoch},"isr":[1]'
    return b"{%s}" % fields.encode()


def _register(zxid: int, session: int) -> bytes:
    """As Kafka 2.2 and later do: create with null data and set, in one multi."""
    value = registration(9092).encode()
    parts = (CREATE, create(BROKER, None, zxid, True)), (SET, set_data(BROKER, value, 1))
    return record(zxid, MULTI, multi(*parts), session=session)


class LiveLog:
    """A watcher's log that was begun right after some transaction."""

    def __init__(self, zxid: int, cluster: str, *, has_zxid: bool = True) -> None:
        self.events: list[Event] = []
        self._zxid, self._cluster, self._has_zxid = zxid, cluster, has_zxid

    def scan(self, *reads: tuple[str, str, bytes, Stat]) -> LiveLog:
        """The first look: a gap, then a read of every znode."""
        self._add(op="gap", path="/", gap=Gap("1", "first_start"))
        self._add(op="frame_begin", path="/", frame=Frame("1"))
        for path, kind, data, stat in reads:
            fields = {"kind": kind, "data": data.decode(), "stat": stat, "zxid": stat.mzxid}
            self._add(op="read", path=path, origin="scan", **fields)
        self._add(op="in_sync", path="/", frame=Frame("1", base="none", znodes=len(reads)))
        return self

    def change(self, op: str, path: str, kind: str, zxid: int, data: bytes, stat: Stat) -> LiveLog:
        """A watch event."""
        told = None if op == "delete" else data.decode()
        known = zxid if self._has_zxid or op != "delete" else None
        fields = {"kind": kind, "data": told, "stat": stat, "zxid": known}
        self._add(op=op, path=path, origin="watch", **fields)
        return self

    def _add(self, **fields: object) -> None:
        second = START_MS // 1000 + self._zxid + 1
        event = {
            "cluster": self._cluster,
            "log_id": "live",
            "seq": second * SEQ_PER_SECOND + len(self.events),
            "observed_at_ms": 1000 * second + 10 * len(self.events),
        }
        self.events.append(Event(**{**event, **fields}))  # type: ignore[arg-type]
