"""What is done to brokers and to the controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from lab.stories.patience import Observed
from lab.stories.step import Act, Fields, Look

if TYPE_CHECKING:
    from lab.stories.stage import Stage

# A broker by its id, or by what it is when the act comes.
Who = int | Literal["controller", "dead"]
_CLEAN_STOP_S = 60.0


@dataclass(frozen=True)
class BrokerAct(Act):
    """One broker is the object; the truth names it by id."""

    broker: Who

    def list_fields(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class StopBroker(BrokerAct):
    """SIGTERM: leadership moves first, then the registration goes."""

    fact: ClassVar[str] = "broker_stopped"

    def perform(self, stage: Stage) -> Fields:
        broker = stage.find_broker(self.broker)
        broker.stop(_CLEAN_STOP_S)
        stage.wait_until_gone(f"/brokers/ids/{broker.broker_id}")
        return {"broker_id": broker.broker_id}


@dataclass(frozen=True)
class KillBroker(BrokerAct):
    """Kill -9: the registration lives on until the session expires."""

    fact: ClassVar[str] = "broker_killed"

    def perform(self, stage: Stage) -> Fields:
        broker = stage.find_broker(self.broker)
        broker.kill()
        stage.wait_until_gone(f"/brokers/ids/{broker.broker_id}")
        return {"broker_id": broker.broker_id}


@dataclass(frozen=True)
class StartBroker(BrokerAct):
    """The same id, port and data again."""

    fact: ClassVar[str] = "broker_started"

    def perform(self, stage: Stage) -> Fields:
        broker = stage.find_broker(self.broker)
        broker.start()
        return {"broker_id": broker.broker_id}


@dataclass(frozen=True)
class DeposeController(Act):
    """Delete /controller by hand, as operators do: every broker then runs for it."""

    fact: ClassVar[str] = "controller_deposed"

    def perform(self, stage: Stage) -> Fields:
        controller_id = stage.find_broker("controller").broker_id
        stage.zookeeper.delete("/controller")
        stage.patience.wait_for(lambda: stage.read("/controller"), "a new /controller")
        return {"controller_id": controller_id}


@dataclass(frozen=True)
class BrokersAre(Look):
    """Those whose process runs, and no others, as the brokers' own metadata names them."""

    fact: ClassVar[str] = "brokers_are"

    def observe(self, stage: Stage) -> Observed | None:
        metadata = stage.ask_metadata()
        if metadata is None or set(metadata.brokers) != stage.list_living_brokers():
            return None
        return Observed({"broker_ids": sorted(metadata.brokers)})


@dataclass(frozen=True)
class ControllerIs(Look):
    """Whom the metadata names; the epoch is only in ZooKeeper."""

    fact: ClassVar[str] = "controller_is"

    def observe(self, stage: Stage) -> Observed | None:
        metadata, epoch = stage.ask_metadata(), stage.read("/controller_epoch")
        node = stage.read_json("/controller")
        if metadata is None or epoch is None or node is None:
            return None
        # After a change of controller a broker names the former one for a moment.
        if metadata.controller_id != node["brokerid"]:
            return None
        return Observed(
            {"controller_id": metadata.controller_id, "controller_epoch": int(epoch.data)},
            epoch.stat.version,
        )
