"""What is done to configs and quotas: by the API, or by the znodes that the old tools wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from lab.stories.patience import Observed
from lab.stories.raw_requests import alter_quotas
from lab.stories.step import Act, Fields, Look
from lab.stories.topic_acts import Way

if TYPE_CHECKING:
    from lab.stories.stage import Stage, ZnodeReading

EntityType = Literal["topics", "brokers", "clients"]
# By key; of an override that goes, and of a secret, there is no value to show.
Values = tuple[tuple[str, str | None], ...]
# Brokers keep these encrypted.
SECRET = ".password"  # noqa: S105
_CHANGE = "/config/changes/config_change_"
_RESOURCES = {"topics": ResourceType.TOPIC, "brokers": ResourceType.BROKER}
_OVERRIDES = (ConfigSource.DYNAMIC_TOPIC_CONFIG, ConfigSource.DYNAMIC_BROKER_CONFIG)
_ADMIN_S = 60.0


@dataclass(frozen=True)
class AlterConfig(Act):
    """Some overrides of one entity are set, others removed (None); the rest stay."""

    fact: ClassVar[str] = "config_altered"
    entity_type: EntityType
    entity: str
    changes: Values
    by: Way = "api"

    def perform(self, stage: Stage) -> Fields:
        before = _read_config(stage.read(self.path))
        if self.by == "znode":
            self._write_znodes(stage, before)
        elif self.entity_type == "clients":
            quotas = {key: None if value is None else float(value) for key, value in self.changes}
            alter_quotas(stage.find_broker("controller").address, "client-id", self.entity, quotas)
        else:
            self._ask_broker(stage)
        stage.patience.wait_for(lambda: self._is_done(stage), f"the effect of {self}")
        return {}

    @property
    def path(self) -> str:
        """Where the overrides stand."""
        return f"/config/{self.entity_type}/{self.entity}"

    def _write_znodes(self, stage: Stage, before: dict[str, str]) -> None:
        """As the tools of 0.9 did: the whole new set, then the nudge."""
        wanted = {**before, **dict(self.changes)}
        config = {key: value for key, value in wanted.items() if value is not None}
        stage.zookeeper.set(self.path, json.dumps({"version": 1, "config": config}).encode())
        nudge = {"version": 1, "entity_type": self.entity_type, "entity_name": self.entity}
        stage.zookeeper.create(_CHANGE, json.dumps(nudge).encode(), sequence=True)

    def _ask_broker(self, stage: Stage) -> None:
        entries = [
            ConfigEntry(key, value, incremental_operation=_choose_operation(value))
            for key, value in self.changes
        ]
        wanted = ConfigResource(
            _RESOURCES[self.entity_type], self.entity, incremental_configs=entries
        )
        for future in stage.admin.incremental_alter_configs([wanted]).values():
            future.result(_ADMIN_S)

    def _is_done(self, stage: Stage) -> bool:
        now = _read_config(stage.read(self.path))
        return all(
            key in now if value and key.endswith(SECRET) else now.get(key) == value
            for key, value in self.changes
        )

    def list_fields(self) -> dict[str, Any]:
        about = {"entity_type": self.entity_type, "entity": self.entity}
        return {**about, "changes": dict(self.changes), "by": self.by}


@dataclass(frozen=True)
class ConfigIs(Look):
    """All overrides of one entity, as a broker returns them; of quotas no client can ask."""

    fact: ClassVar[str] = "config_is"
    entity_type: EntityType
    entity: str
    config: Values

    def observe(self, stage: Stage) -> Observed | None:
        reading = stage.read(f"/config/{self.entity_type}/{self.entity}")
        if self.entity_type == "clients":
            seen: dict[str, str | None] | None = dict(_read_config(reading))
        else:
            seen = self._ask_broker(stage)
        if seen != dict(self.config):
            return None
        fields = {"entity_type": self.entity_type, "entity": self.entity, "config": seen}
        return Observed(fields, reading.stat.version if reading else None)

    def _ask_broker(self, stage: Stage) -> dict[str, str | None] | None:
        resource = ConfigResource(_RESOURCES[self.entity_type], self.entity)
        (future,) = stage.admin.describe_configs([resource]).values()
        try:
            entries = future.result(_ADMIN_S)
        except KafkaException:
            return None
        overrides = {
            key: one for key, one in entries.items() if ConfigSource(one.source) in _OVERRIDES
        }
        return {key: one.value for key, one in overrides.items()}


def _choose_operation(value: str | None) -> AlterConfigOpType:
    return AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET


def _read_config(reading: ZnodeReading | None) -> dict[str, str]:
    """The overrides; none where the znode is not there."""
    if reading is None or not reading.data:
        return {}
    config: dict[str, str] = json.loads(reading.data)["config"]
    return config
