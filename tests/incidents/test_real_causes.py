"""Why, on real servers: labelled incidents side by side on one cluster, in minutes.

Most have two things at once, and all of them a broker that is away and leads nothing of theirs.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import msgspec
import pytest

from delta_tables import reading
from lab.cluster import Cluster
from tests.incidents.folded import fold_lake
from tests.incidents.real_scene import SESSION_MS, WRITE_RATE, Act, Scene, Traffic, play
from tests.watcher.watching import LogTail, WatcherProcess, catch_up
from zklake.events.envelope import Event

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]

Row = dict[str, Any]
NAME = "real-incidents"
CALM_S, SECONDS = 150, 345
_SAMPLING = {"ZKLAKE_WATCHER__SAMPLING": "true", "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": "2"}
_CALM = WRITE_RATE


class Incident(NamedTuple):
    """What goes wrong, in seconds after the calm, and what adds most records, in order."""

    name: str
    acts: tuple[tuple[float, Act], ...]
    causes: tuple[str, ...]
    # How the entity of the first begins: a member's name, a topic, a broker.
    entity: str
    leaders: tuple[int, ...] = (0, 1)
    settings: dict[str, Any] = {}  # noqa: RUF012


def _burst(
    rate: float, *partitions: int, since: float = 0, seconds: float = 30
) -> tuple[tuple[float, Act], ...]:
    return (
        (since, lambda s: s.produce(rate, *partitions)),
        (since + seconds, lambda s: s.produce(_CALM, *partitions)),
    )


INCIDENTS = (
    Incident("burst", _burst(100), ("producers_faster",), "topic burst-orders"),
    Incident(
        "burst-and-join",
        (*_burst(100), (5, lambda s: s.join("c"))),
        ("producers_faster",),
        "topic burst-and-join-orders",
    ),
    Incident(
        "crash",
        ((0, lambda s: s.members["b"].kill()),),
        ("owner_crashed",),
        "member crash-readers_b",
    ),
    Incident(
        "crash-and-burst",
        # Both at the peak, when the session of the dead one ends.
        ((0, lambda s: s.members["b"].kill()), *_burst(100, 0, since=40)),
        ("owner_crashed", "producers_faster"),
        "member crash-and-burst-readers_b",
    ),
    Incident(
        "stuck",
        # It lives on: its session lasts longer.
        (
            (0, lambda s: s.members["a"].pause()),
            (40, lambda s: s.members["a"].resume()),
        ),
        ("owner_stuck",),
        "member stuck-readers_a",
    ),
    Incident(
        "slow-and-config",
        (
            (0, lambda s: s.throttle("a", 60)),
            (4, lambda s: s.configure("max.message.bytes", "2000000")),
        ),
        ("readers_slower",),
        "member slow-and-config-readers_a",
        settings={"read_rate": 30},
    ),
    Incident(
        "leader-away",
        (
            (0, lambda s: s.cluster.brokers[2].kill()),
            (35, lambda s: s.cluster.brokers[2].start(120)),
        ),
        ("leader_away",),
        "broker 2",
        leaders=(2,),
    ),
    Incident(
        "kafka-stuck",
        ((0, lambda s: s.kafka_members["a"].stall()),),
        ("owner_stuck",),
        "member a-",
        settings={"old": False},
    ),
    # Written down before they were run.
    Incident(
        "slow-and-burst",
        # On what the other one reads.
        ((0, lambda s: s.throttle("a", 60)), *_burst(110, 3, since=25, seconds=30)),
        ("producers_faster", "readers_slower"),
        "topic slow-and-burst-orders",
        settings={"read_rate": 30},
    ),
    Incident(
        "crash-after-leader",
        # What broker 2 led is read again when the session of the dead one ends.
        ((38, lambda s: s.members["b"].kill()),),
        ("owner_crashed",),
        "member crash-after-leader-readers_b",
        leaders=(2, 0),
    ),
    Incident(
        "all-stopped",
        (
            (0, lambda s: s.members["a"].stop()),
            (1, lambda s: s.members["b"].stop()),
            *_burst(20, since=10, seconds=20),
            (50, lambda s: s.join("c")),
        ),
        ("unowned",),
        "group all-stopped-readers",
    ),
)


@pytest.fixture(scope="module")
def lake(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Everything that a watcher told of all incidents; the log is kept by another Kafka."""
    directory = tmp_path_factory.mktemp("real")
    with Cluster(3, tick_ms=SESSION_MS // 20) as watched, ExitStack() as stack:
        watcher = WatcherProcess(
            *(watched.zookeeper_connect, cluster.bootstrap, directory),
            cluster=NAME,
            environ=_SAMPLING,
        )
        stack.enter_context(watcher)
        tail = stack.enter_context(closing(LogTail(cluster.bootstrap, watcher.cluster)))
        catch_up(watcher, tail)
        traffic = Traffic(watched.bootstrap)
        traffic.start()
        scenes = []
        for one in INCIDENTS:
            scene = Scene(watched, traffic, one.name, one.leaders, **one.settings)
            stack.callback(scene.close)
            scenes.append((scene, [(CALM_S + at, act) for at, act in one.acts]))
        play(scenes, SECONDS)
        traffic.stop()
        assert traffic.errors == []
        catch_up(watcher, tail)
        watcher.process.stop(60)
        events = [msgspec.convert(event, Event) for event in tail.read_all()]
    return fold_lake(directory / "lake", events)


def find_largest(lake: str, group: str) -> list[Row]:
    """The rows of the largest rise of a group, the largest cause first."""
    rows = reading.read_rows(
        lake,
        NAME,
        f"SELECT * FROM root_cause WHERE group_id = '{group}' ORDER BY rise_from, rank",
    )
    most = max((row["added"] for row in rows), default=0)
    return [row for row in rows if row["added"] == most]


def test_the_causes_of_real_incidents(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = {one.name: find_largest(lake, f"{one.name}-readers") for one in INCIDENTS}
    for rows in found.values():
        assert sum(row["records"] for row in rows) == rows[0]["added"] > 0
    with capsys.disabled():
        print("\n" + "\n".join(format_table(found)))
    assert [one.name for one in INCIDENTS if not is_first(one, found[one.name])] == []
    both = [one for one in INCIDENTS if len(one.causes) > 1]
    assert [one.name for one in both if list_causes(found[one.name])[:2] != [*one.causes]] == []
    # Of all together: each says its own.
    added = sum(rows[0]["added"] for rows in found.values())
    assert sum(map(count_explained, found.values())) >= 0.9 * added


def list_causes(rows: list[Row]) -> list[str]:
    """By rank, less what is left."""
    return [row["cause"] for row in rows if row["cause"] != "left"]


def is_first(incident: Incident, rows: list[Row]) -> bool:
    """Whether the true cause comes first, and is said of whom it is true."""
    is_right = list_causes(rows)[:1] == [incident.causes[0]]
    return is_right and rows[0]["entity"].startswith(incident.entity)


def count_explained(rows: list[Row]) -> int:
    """Records that a cause was found for."""
    return sum(row["records"] for row in rows if row["cause"] not in ("left", "unknown"))


def format_table(found: dict[str, list[Row]]) -> list[str]:
    """One line per incident: what was added, the share that is explained, causes by rank."""
    lines = [f"{'incident':19}{'first':>7}{'added':>7}{'explained':>11}  causes"]
    for one in INCIDENTS:
        rows = found[one.name]
        share = count_explained(rows) / rows[0]["added"]
        said = ", ".join(f"{row['cause']} ({row['entity']}) {row['records']}" for row in rows)
        right = "yes" if is_first(one, rows) else "NO"
        lines.append(f"{one.name:19}{right:>7}{rows[0]['added']:7}{share:11.2f}  {said}")
    return lines
