"""kill -9 of `zklake alerts run` at every point: one id for the open, one for the close."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alerts.journal_file import connect_to_read
from lab.ports import find_free_ports
from tests.alerts.book import CLUSTER, Book
from tests.alerts.receivers import HttpReceiver

ROOT = Path(__file__).parents[3]
_COMMAND = "from zklake.cli.alerts import app; app()"
_PATIENCE_S = 60.0


class Scene:
    """A lake with a group that is stopped, a receiver, and a daemon that can be killed."""

    def __init__(self, directory: Path) -> None:
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.book = Book(str(directory / "lake"), self.now)
        self.receiver = HttpReceiver()
        self.journal = str(directory / "journal")
        self.http = f"127.0.0.1:{find_free_ports(1)[0]}"
        self._config = directory / "alerts.toml"
        self._stopped = self.book.lag("STOPPED", self.book.minute(-30))
        self.book.tell(self.now, offset_lag=[self._stopped])

    def end(self) -> None:
        """The group recovers; long enough ago to be believed."""
        minute, seq = self.book.minute, self._stopped["valid_from_seq"]
        over = self.book.lag("STOPPED", minute(-30), minute(-5), seq=seq)
        self.book.tell(self.now, offset_lag=[over, self.book.lag("OK", minute(-5))])

    @contextmanager
    def run(self, rule: str = "group_status") -> Iterator[subprocess.Popen[bytes]]:
        """The daemon, until it is killed."""
        self._config.write_text(
            f'[alerts]\njournal = "{self.journal}"\ninterval_s = 0.1\nhttp = "{self.http}"\n'
            f'[[alerts.rules]]\nrule = "{rule}"\n'
            f'[[alerts.notifiers]]\nby = "webhook"\nurl = "{self.receiver.url}"\n'
        )
        options = ["--lake", self.book.path, "--cluster", CLUSTER, "--config", str(self._config)]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ZKLAKE_")}
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, "run", *options],
            cwd=ROOT,
            env=clean,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def read(self, sql: str) -> list[tuple[object, ...]]:
        """What the journal says."""
        connection = connect_to_read(self.journal, CLUSTER)
        if connection is None:
            return []
        with closing(connection):
            return connection.execute(sql).fetchall()

    def count_sent(self) -> int:
        return len(self.read("SELECT 1 FROM deliveries WHERE state = 'sent'"))

    def wait_sent(self, count: int) -> None:
        wait(lambda: self.count_sent() == count)


def wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_ready(http: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{http}/readyz", timeout=30) as answer:
            return bool(answer.read() == b"ready\n")
    except urllib.error.HTTPError as error:
        error.close()
        return False


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_killed_before_anything_could_be_sent(scene: Scene) -> None:
    with scene.receiver.serve():  # only to find a port that refuses
        pass
    tried = "SELECT 1 FROM deliveries WHERE attempts >= 1 AND error IS NOT NULL"
    with scene.run():
        wait(lambda: bool(scene.read(tried)))
    with scene.receiver.serve(), scene.run():
        scene.wait_sent(1)
        scene.end()
        scene.wait_sent(2)
    assert len(scene.receiver.list_keys("open")) == 1
    assert len(scene.receiver.list_keys("close")) == 1


def test_killed_after_the_receiver_had_it_and_before_that_was_written_down(scene: Scene) -> None:
    with scene.receiver.serve():
        for event in ("open", "close"):
            if event == "close":
                scene.end()
            scene.receiver.stalls = True
            scene.receiver.arrived.clear()
            with scene.run():
                assert scene.receiver.arrived.wait(_PATIENCE_S)
            scene.receiver.stalls = False
            scene.receiver.released.set()
            with scene.run():
                scene.wait_sent(1 if event == "open" else 2)
            scene.receiver.released.clear()
            # It came twice, as it must: nobody could know. Its key says that it is the same.
            keys = scene.receiver.list_keys(event)
            assert len(keys) == 2
            assert len(set(keys)) == 1
    incidents = {post.message["incident"]["id"] for post in scene.receiver.posts}
    assert len(incidents) == 1


def test_killed_at_any_time_while_the_lake_goes_on(scene: Scene) -> None:
    with scene.receiver.serve():
        for count in (1, 2):
            if count == 2:
                scene.end()
            with scene.run():
                time.sleep(1)  # about when it comes to its first look
            with scene.run():
                scene.wait_sent(count)
    assert len(set(scene.receiver.list_keys("open"))) == 1
    assert len(set(scene.receiver.list_keys("close"))) == 1


def test_killed_while_a_rule_goes_and_comes_back(scene: Scene) -> None:
    with scene.receiver.serve():
        # Each twice: killed at about its first look, and when it was heard.
        for count, rule in ((1, "group_status"), (2, "broker_down"), (3, "group_status")):
            with scene.run(rule):
                time.sleep(1)
            with scene.run(rule):
                scene.wait_sent(count)
        scene.end()
        with scene.run():
            scene.wait_sent(4)
    posts = {post.key: post.message for post in scene.receiver.posts}
    told = [(post["incident"]["id"], post["event"]) for post in posts.values()]
    first = told[0][0]
    assert told == [(id_, event) for id_ in (first, f"{first}-2") for event in ("open", "close")]


def test_it_ends_when_it_is_told_to_and_only_one_may_run(scene: Scene) -> None:
    with scene.receiver.serve(), scene.run() as process:
        scene.wait_sent(1)
        wait(lambda: is_ready(scene.http))
        with scene.run() as second:
            assert second.wait(_PATIENCE_S) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(_PATIENCE_S) == 0
