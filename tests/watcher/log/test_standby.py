from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.watcher.log.writing import make_batch, name_cluster
from watcher.log.publisher import Publisher
from watcher.log.standby import LOOK_MS, begin_silence, observe, wait_for_silence
from watcher.log.topics import ensure_topics

if TYPE_CHECKING:
    from lab.cluster import Cluster


def test_a_new_log_is_taken_at_once() -> None:
    assert begin_silence(0, None, now_ms=5_000, takeover_after_ms=10_000).is_over(5_000)


def test_a_fresh_record_makes_us_wait_by_our_own_clock() -> None:
    silence = begin_silence(7, 3_000, now_ms=100, takeover_after_ms=10_000)
    assert not silence.is_over(10_099)
    assert silence.is_over(10_100)


def test_a_record_from_the_future_is_a_fresh_one() -> None:
    assert not begin_silence(7, -3_600_000, 0, 10_000).is_over(9_999)


def test_an_old_log_is_only_looked_at_for_two_heartbeats() -> None:
    silence = begin_silence(7, 60_000, now_ms=0, takeover_after_ms=10_000)
    assert not silence.is_over(LOOK_MS - 1)
    assert silence.is_over(LOOK_MS)


def test_a_log_that_only_looks_old_keeps_us_waiting_once_it_grows() -> None:
    silence = begin_silence(7, 3_600_000, now_ms=0, takeover_after_ms=10_000)
    silence = observe(silence, 9, now_ms=1_000)
    assert not silence.is_over(10_999)
    assert silence.is_over(11_000)


def test_each_new_record_starts_the_wait_again() -> None:
    silence = begin_silence(7, 0, now_ms=0, takeover_after_ms=10_000)
    for now_ms in range(1_000, 60_000, 1_000):
        silence = observe(silence, 7 + now_ms, now_ms)
        assert not silence.is_over(now_ms + 999)
    assert observe(silence, silence.end, 65_000) == silence


def test_a_kafka_that_does_not_answer_is_no_silence() -> None:
    silence = begin_silence(7, 60_000, now_ms=0, takeover_after_ms=10_000)
    silence = observe(silence, None, now_ms=9_000)
    assert not silence.is_over(18_999)
    silence = observe(silence, 7, now_ms=30_000)
    assert not silence.is_over(39_999)
    assert silence.is_over(40_000)


@pytest.mark.integration
def test_waits_beside_heartbeats_and_takes_over_after_silence(cluster: Cluster) -> None:
    name = name_cluster()
    ensure_topics(cluster.bootstrap, {}, name)
    stop = threading.Event()
    published_at = []

    def beat() -> None:
        publisher = Publisher(cluster.bootstrap, {}, name)
        publisher.fence()
        for seq in range(1, 1_000):
            if stop.wait(0.3):
                break
            published_at.append(time.monotonic())
            publisher.publish(make_batch(seq))
        publisher.close()

    states: list[str] = []
    writer = threading.Thread(target=beat)
    writer.start()
    threading.Timer(6, stop.set).start()
    time.sleep(2)
    taken = wait_for_silence(
        cluster.bootstrap, {}, name, takeover_after_ms=5_000, on_standby=lambda: states.append("s")
    )
    taken_at = time.monotonic()
    writer.join()
    assert taken
    assert states == ["s"]
    assert taken_at - published_at[-1] >= 5


@pytest.mark.integration
def test_take_over_and_stop_do_not_wait(cluster: Cluster) -> None:
    name = name_cluster()
    ensure_topics(cluster.bootstrap, {}, name)
    assert wait_for_silence(cluster.bootstrap, {}, name)  # empty: at once
    publisher = Publisher(cluster.bootstrap, {}, name)
    publisher.fence()
    publisher.publish(make_batch(1))
    started_at = time.monotonic()
    ask = partial(wait_for_silence, cluster.bootstrap, {}, name, takeover_after_ms=120_000)
    assert ask(take_over=True)
    assert not ask(stopping=lambda: True)
    assert time.monotonic() - started_at < 60
    publisher.close()
