"""Members of groups that come back whenever they are launched: a supervisor can follow them.

A story may take one of them off its stage and bring a new one on under the same name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from lab.kafka_consumer import KafkaMember
from lab.stories.group_acts import JoinGroup
from lab.stories.kafka_group_acts import JoinKafkaGroup
from lab.stories.stage import Stage
from lab.zookeeper_consumer.process import ConsumerProcess


class Regular(ABC):
    """One member, by the name under which it is known on the stage."""

    def __init__(self, stage: Stage, name: str) -> None:
        """Nothing starts yet."""
        self.name = name
        self.log_file = stage.cluster.logs / "consumers" / f"{name}.log"
        self._stage = stage

    @abstractmethod
    def launch(self) -> None:
        """Join the group."""

    @abstractmethod
    def find_process(self) -> ConsumerProcess | KafkaMember | None:
        """Who plays it now."""

    @property
    def exit_code(self) -> int | None:
        """Of the last run; None while it runs, and before the first."""
        process = self.find_process()
        return process.exit_code if process else None

    def is_alive(self) -> bool:
        """Whether it runs."""
        process = self.find_process()
        return process is not None and process.is_alive()

    def find_obstacle(self) -> str | None:
        """One that runs has joined, or is about to."""
        return None

    def stop(self) -> None:
        """SIGTERM: a last commit, and it leaves its group."""
        process = self.find_process()
        if process is not None and process.is_alive():
            process.stop()


class ZooKeeperRegular(Regular):
    """An old consumer."""

    def __init__(self, stage: Stage, join: JoinGroup) -> None:
        """Nothing starts yet."""
        super().__init__(stage, join.member_id)
        self._join = join

    def launch(self) -> None:
        """Join the group; a session of its former life must have expired before."""
        self._stage.wait_until_gone(self._join.registration)
        replace(self._join, in_haste=True).perform(self._stage)

    def find_process(self) -> ConsumerProcess | None:
        """Who plays it now."""
        return self._stage.members.get(self.name)


class KafkaRegular(Regular):
    """A consumer of today, in a group that Kafka stores."""

    def __init__(self, stage: Stage, join: JoinKafkaGroup) -> None:
        """Nothing starts yet."""
        super().__init__(stage, f"{join.group}_{join.client_id}")
        self.key = (join.group, join.client_id)
        self._join = join

    def launch(self) -> None:
        """Start it, and ask no broker whether it has joined.

        librdkafka ends the whole process when it loses the coordinator that it asks about a group
        (its issue 4605), and this process holds the run.
        """
        replace(self._join, in_haste=True).perform(self._stage)

    def find_process(self) -> KafkaMember | None:
        """Who plays it now."""
        return self._stage.kafka_members.get(self.key)
