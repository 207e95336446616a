"""A consumer's settings, with the original's defaults unless a lab needs others."""

from __future__ import annotations

from dataclasses import dataclass

from lab.zookeeper_consumer.assignors import ASSIGNORS
from zklake.errors import LabError
from zklake.events.payloads.consumer import Consumer

RESETS = ("smallest", "largest")


@dataclass(frozen=True)
class ConsumerOptions:
    """One member of one group."""

    zookeeper: str
    group: str
    subscription: Consumer
    # The part of the id after `group_`; None: host-startMillis-8hex.
    member_suffix: str | None = None
    # None: found in /brokers/ids.
    bootstrap: str | None = None
    session_timeout_ms: int = 6_000
    auto_commit_ms: int = 60_000
    # False: owns and reads, but never writes an offset.
    commits: bool = True
    # Not stored in ZooKeeper: a group whose members differ in it never settles.
    strategy: str = "range"
    # Where a group without offsets begins. The original's default is `largest`; here every
    # message shall be read.
    reset: str = "smallest"
    # The original takes zookeeper.sync.time.ms, which is 2 s too.
    backoff_ms: int = 2_000
    max_retries: int = 4
    # Messages a second at most; None: as fast as they come.
    rate: float | None = None
    # Report every message.
    messages: bool = False

    def __post_init__(self) -> None:
        if self.strategy not in ASSIGNORS:
            raise LabError(f"no strategy {self.strategy!r}: choose one of {', '.join(ASSIGNORS)}")
        if self.reset not in RESETS:
            raise LabError(f"no reset {self.reset!r}: choose one of {', '.join(RESETS)}")
        if not self.group or "/" in self.group:
            raise LabError(f"{self.group!r} cannot be a group: it names a znode")
