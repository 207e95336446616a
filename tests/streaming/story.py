"""Event lists as the watcher would write them, for tests of the fold."""

from __future__ import annotations

from zklake.events.envelope import Event, Frame, Stat

BORN_MS = 1_794_793_246_000


def registration(port: int, version: int = 5) -> str:
    return (
        f'{{"version":{version},"host":"k1","port":{port},"jmx_port":-1,'
        f'"timestamp":"{BORN_MS}","rack":"az-a","features":{{}},'
        f'"endpoints":["PLAINTEXT://k1:{port}"],'
        '"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"}}'
    )


class Story:
    """Writes events of one cluster, one second and one seq after the other."""

    def __init__(self, cluster: str = "c", log_id: str = "log-1") -> None:
        self.cluster, self.log_id = cluster, log_id
        self.events: list[Event] = []

    @property
    def seq(self) -> int:
        return 1000 + len(self.events)

    @property
    def at_ms(self) -> int:
        return BORN_MS + 1000 * len(self.events)

    def add(self, **fields: object) -> Story:
        event = {
            "cluster": self.cluster,
            "log_id": self.log_id,
            "seq": self.seq,
            "observed_at_ms": self.at_ms,
        }
        self.events.append(Event(**{**event, **fields}))  # type: ignore[arg-type]
        return self

    def broker(self, op: str, broker_id: int, **fields: object) -> Story:
        return self.add(op=op, path=f"/brokers/ids/{broker_id}", kind="broker", **fields)

    def stat(self, czxid: int, version: int = 0, mzxid: int | None = None) -> Stat:
        return Stat(
            czxid=czxid,
            mzxid=czxid if mzxid is None else mzxid,
            ctime=self.at_ms - 5,
            mtime=self.at_ms - 5,
            version=version,
            ephemeral_owner=0xABC,
        )

    def register(self, broker_id: int, czxid: int, port: int = 9092) -> Story:
        """Kafka 2.2+: one multi, create(null) + set; the watcher reads only the outcome."""
        born = Stat(czxid=czxid, mzxid=czxid, version=0, ephemeral_owner=0xABC)
        self.broker("create", broker_id, zxid=czxid, fidelity="superseded", stat=born)
        stat = self.stat(czxid, version=1)
        return self.broker("set", broker_id, zxid=czxid, data=registration(port), stat=stat)

    def alter(self, broker_id: int, czxid: int, version: int, zxid: int, port: int) -> Story:
        stat = self.stat(czxid, version, zxid)
        return self.broker("set", broker_id, zxid=zxid, data=registration(port), stat=stat)

    def read(self, broker_id: int, czxid: int, version: int = 1, port: int = 9092) -> Story:
        stat = self.stat(czxid, version)
        return self.broker("read", broker_id, data=registration(port), stat=stat)

    def leave(self, broker_id: int, czxid: int, zxid: int) -> Story:
        return self.broker("delete", broker_id, zxid=zxid, stat=Stat(czxid=czxid))

    def begin_frame(self, frame_id: str) -> Story:
        return self.add(op="frame_begin", path="/", frame=Frame(id=f"{self.cluster}-{frame_id}"))

    def end_frame(self, frame_id: str, base: str) -> Story:
        frame = Frame(id=f"{self.cluster}-{frame_id}", base=base)  # type: ignore[arg-type]
        return self.add(op="in_sync", path="/", frame=frame)
