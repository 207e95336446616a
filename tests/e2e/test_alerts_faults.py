"""A group stops and recovers on a live cluster while every part there is is killed -9.

What holds: one open and one close by Idempotency-Key, whatever is killed and when. By POSTs there
may be more of one key, but only by kills of the notifier: who is killed after the receiver had a
message and before that was written down must send it again.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from lab.zookeeper_consumer.process import ConsumerProcess
from lab.zookeeper_consumer.producing import produce
from tests.alerts.receivers import HttpReceiver
from tests.e2e.alerts_pipeline import GROUP, START_S, TOPIC, Pipeline, open_pipeline
from tests.watcher.watching import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(2400)]

SEED = 11
# While a message forms: from before its time to after it.
_KILLS, _SHORTEST_S, _LONGEST_S = 8, 0.3, 6.0


def test_one_open_and_one_close_whatever_is_killed_and_when(tmp_path: Path) -> None:
    # It takes its time to answer: a kill may come between.
    receiver, dice = HttpReceiver(delay_s=0.5), Random(SEED)
    with (
        receiver.serve(),
        open_pipeline(tmp_path, receiver.url) as (cluster, pipeline),
        ConsumerProcess(
            cluster.zookeeper_connect,
            GROUP,
            topics=[TOPIC],
            member_suffix="a",
            log_file=tmp_path / "consumer.log",
        ) as member,
    ):
        pipeline.launch()
        produce(cluster.bootstrap, TOPIC, 200)
        pipeline.wait_ready()
        pipeline.wait_status("OK")
        pipeline.launch_alerts()
        member.stop()
        produce(cluster.bootstrap, TOPIC, 200)
        kill_often(pipeline, dice)
        wait_for("the open", lambda: receiver.list_keys("open"), START_S)
        pipeline.kill_each()
        assert receiver.list_keys("close") == []
        member.start()
        kill_often(pipeline, dice)
        wait_for("the close", lambda: receiver.list_keys("close"), START_S)
        pipeline.kill_each()
        pipeline.wait_status("OK")
    check(receiver, pipeline)


def kill_often(pipeline: Pipeline, dice: Random) -> None:
    """The notifier, at moments that nobody chose, while an incident opens or closes."""
    for _ in range(_KILLS):
        time.sleep(dice.uniform(_SHORTEST_S, _LONGEST_S))
        pipeline.kill("alerts")


def check(receiver: HttpReceiver, pipeline: Pipeline) -> None:
    posts = Counter((post.message["event"], post.key) for post in receiver.posts)
    print(f"killed: {pipeline.killed}")
    for (event, key), count in posts.items():
        print(f"{event} {key}: {count} POSTs")
    assert all(pipeline.killed.values())
    # By key: exactly one of each, of one incident, and in order.
    assert [event for event, _ in posts] == ["open", "close"]
    messages = [post.message for post in receiver.posts]
    assert len({message["incident"]["id"] for message in messages}) == 1
    assert messages[0]["incident"]["subject"]["group_id"] == GROUP
    assert messages[0]["incident"]["evidence"]["status"] == "STOPPED"
    # By POSTs: each more is one kill of the notifier that came between.
    assert posts.total() - len(posts) <= pipeline.killed["alerts"]
    events = [message["event"] for message in messages]
    assert events == sorted(events, reverse=True), "no open after a close"
