"""What is done to consumer groups: members come, go, crash and freeze; offsets are rewound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lab.stories.step import Act, Fields
from lab.stories.truth import now_ms
from lab.zookeeper_consumer.process import ConsumerProcess

if TYPE_CHECKING:
    from lab.stories.stage import Stage

# Shorter than Kafka's 6 s, so that a crash is not most of a fast story.
SESSION_TIMEOUT_MS = 4_000
_BACKOFF_MS = 500
_MAX_RETRIES = 10
_COMMIT_MS = 2_000
_LEAST_COMMIT_MS = 200
_STOP_S = 30.0


def name_member(group: str, member: str) -> str:
    """The consumer id of a member whose `consumer.id` is set."""
    return f"{group}_{member}"


@dataclass(frozen=True)
class MemberAct(Act):
    """One member of one group is the object."""

    group: str
    member: str

    @property
    def member_id(self) -> str:
        """As in ZooKeeper."""
        return name_member(self.group, self.member)

    @property
    def registration(self) -> str:
        """Where it stands while it lives."""
        return f"/consumers/{self.group}/ids/{self.member_id}"

    def list_fields(self) -> dict[str, Any]:
        return {"group": self.group, "member_id": self.member_id}


@dataclass(frozen=True)
class JoinGroup(MemberAct):
    """A consumer starts; over with its first rebalance, or, `in_haste`, with its registration."""

    fact: ClassVar[str] = "member_joined"
    # Or, `by_regex`, the regex of its white list.
    topic: str
    streams: int = 1
    by_regex: bool = False
    commits: bool = True
    in_haste: bool = False
    # Messages a second at most.
    rate: float | None = None

    def perform(self, stage: Stage) -> Fields:
        process = ConsumerProcess(
            stage.cluster.zookeeper_connect,
            self.group,
            topics=[] if self.by_regex else [self.topic],
            whitelist=self.topic if self.by_regex else None,
            streams=self.streams,
            member_suffix=self.member,
            bootstrap=stage.cluster.bootstrap,
            log_file=stage.cluster.logs / "consumers" / f"{self.member_id}.log",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            auto_commit_ms=max(_LEAST_COMMIT_MS, stage.scale_ms(_COMMIT_MS)),
            commits=self.commits,
            rate=self.rate,
            backoff_ms=_BACKOFF_MS,
            max_retries=_MAX_RETRIES,
        )
        stage.members[self.member_id] = process
        process.launch() if self.in_haste else process.start(stage.patience.timeout_s)
        stage.patience.wait_for(lambda: stage.read(self.registration), self.registration)
        return {"subscription": {self.topic: self.streams}, "commits": self.commits}


@dataclass(frozen=True)
class StopMember(MemberAct):
    """SIGTERM: a last commit, then the session is closed."""

    fact: ClassVar[str] = "member_left"

    def perform(self, stage: Stage) -> Fields:
        process = stage.members.pop(self.member_id)
        process.stop(_STOP_S)
        stage.wait_until_gone(self.registration)
        process.close()
        return {"how": "stop"}


@dataclass(frozen=True)
class KillMember(MemberAct):
    """Kill -9; ZooKeeper knows nothing of it until the session expires."""

    fact: ClassVar[str] = "member_killed"

    def perform(self, stage: Stage) -> Fields:
        stage.killed_ms[self.member_id] = now_ms()
        stage.members[self.member_id].kill()
        return {}


@dataclass(frozen=True)
class CrashMember(MemberAct):
    """Kill -9, unless that was done: registration and owner nodes go when the session expires."""

    fact: ClassVar[str] = "member_left"

    def perform(self, stage: Stage) -> Fields:
        process = stage.members.pop(self.member_id)
        killed_ms = stage.killed_ms.pop(self.member_id, now_ms())
        if process.is_alive():
            process.kill()
        stage.wait_until_gone(self.registration)
        process.close()
        return {"how": "crash", "killed_ms": killed_ms}


@dataclass(frozen=True)
class FreezeMember(MemberAct):
    """SIGSTOP until the session has expired."""

    fact: ClassVar[str] = "member_left"

    def perform(self, stage: Stage) -> Fields:
        stage.members[self.member_id].pause()
        stage.wait_until_gone(self.registration)
        return {"how": "freeze"}


@dataclass(frozen=True)
class ThawMember(MemberAct):
    """SIGCONT: it learns of its expiry and registers the same id anew."""

    fact: ClassVar[str] = "member_joined"
    topic: str

    def perform(self, stage: Stage) -> Fields:
        stage.members[self.member_id].resume()
        stage.patience.wait_for(lambda: stage.read(self.registration), self.registration)
        return {"subscription": {self.topic: 1}, "commits": True}


@dataclass(frozen=True)
class RewindOffsets(Act):
    """Offsets set back by hand, as ImportZkOffsets did; nobody may own them meanwhile."""

    fact: ClassVar[str] = "offsets_rewound"
    group: str
    topic: str
    offsets: tuple[int, ...]

    def perform(self, stage: Stage) -> Fields:
        for partition, offset in enumerate(self.offsets):
            path = f"/consumers/{self.group}/offsets/{self.topic}/{partition}"
            stage.zookeeper.set(path, str(offset).encode())
        return {}

    def list_fields(self) -> dict[str, Any]:
        offsets = dict(enumerate(self.offsets))
        return {"group": self.group, "topic": self.topic, "offsets": offsets}
