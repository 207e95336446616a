"""The embedded side of `zklake run`: a cluster that is kept from run to run, its shop and story."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from lab.cluster import Cluster
from lab.first_light import Rows, run_first_light
from lab.kept_choices import choose_port
from lab.shop import GROUP, TOPIC, Shop
from lab.story_answers import StoryAnswers
from lab.story_loop import StoryLoop
from zklake.errors import LabError
from zklake.supervision.part import Addresses, ProductPart, Site, build_parts
from zklake.supervision.product import Product
from zklake.supervision.run_directory import ADDRESSES, RunDirectory
from zklake.supervision.supervisor import Supervisor, explain_briefly

CLUSTER = "lab"
# Pages shall live: more often than by default.
SAMPLE_INTERVAL_S = 5
_DASHBOARD_PORT = 8080
_START_S = 180.0


class Wishes(NamedTuple):
    """What the settings say of the parts; None: they leave it to us."""

    dashboard_http: str | None = None
    sample_interval_s: float | None = None
    # For every part.
    options: Sequence[str] = ()
    # Whether the dashboard answers by HTTPS.
    has_tls: bool = False


class Demonstration:
    """Everything of one run on an embedded cluster; what it starts is ended by the stack."""

    # Commands that have something to say here.
    questions = (
        f"zklake at -5m ownership_history --where \"topic = '{TOPIC}' AND partition = 3\"",
        f"zklake why {GROUP}",
    )

    def __init__(
        self,
        directory: RunDirectory,
        brokers: int,
        supervisor: Supervisor,
        wishes: Wishes,
        *,
        say: Callable[[str], None],
    ) -> None:
        """Nothing starts yet; every address is chosen."""
        self._supervisor = supervisor
        self._say = say
        self._made_at = datetime.now(UTC)
        self._seed = int(self._made_at.timestamp())
        self._cluster = Cluster(
            brokers,
            directory=directory.path / "cluster",
            logs=directory.logs,
            choose_port=partial(choose_port, directory),
            say=say,
        )
        self._shop = Shop(self._cluster, seed=self._seed, say=say)
        site = Site(
            self._cluster.zookeeper_connect,
            self._cluster.bootstrap,
            CLUSTER,
            str(directory.path / "lake"),
        )
        self.product = Product(site, _build_parts(site, directory, wishes), supervisor)

    def start(self, stack: ExitStack) -> None:
        """Start all of it; watcher and stream may still be on their way."""
        stack.callback(self._cluster.close)
        stack.callback(self._shop.close)
        stack.callback(self.product.close)
        # Spark needs no cluster to start, and longer than everything else.
        self.product.launch("stream")
        self._cluster.start(_START_S)
        for server in self._cluster.servers:
            self._supervisor.follow(server)
        # Not before all brokers are there: our topics get as many replicas as there are brokers.
        self.product.launch_rest()
        self._shop.start(_START_S)
        for member in self._shop.members:
            self._supervisor.follow(member)

    def run_first_chapter(
        self, page: str, show: Callable[[Rows], None], *, must_succeed: bool
    ) -> Rows:
        """A broker dies and comes back; returns its rows."""
        self._say(f"story: a broker dies and comes back; look: {page}brokers")
        try:
            with self._supervisor.hold(self._cluster.brokers[-1].name):
                return run_first_light(
                    self._cluster, self.product.site, self._made_at, self._say, show
                )
        except LabError as error:
            if must_succeed:
                raise
            self._say(f"story: that broke off ({explain_briefly(error)})")
            return []

    def make_loop(self, page: str, show: Callable[[Rows], None]) -> StoryLoop:
        """What happens as long as it runs; `page` is where the dashboard answers."""
        answers = StoryAnswers(self.product.site, page, self._say, show)
        return StoryLoop(
            self._shop,
            self._supervisor,
            seed=self._seed,
            say=self._say,
            point=answers.point,
            answer=answers.answer,
        )


def _build_parts(site: Site, directory: RunDirectory, wishes: Wishes) -> list[ProductPart]:
    names = ("watch", "stream", "audit")
    watch, stream, audit = (f"127.0.0.1:{choose_port(directory, name)}" for name in names)
    page = wishes.dashboard_http
    page = page or f"127.0.0.1:{choose_port(directory, 'dashboard', _DASHBOARD_PORT)}"
    interval = wishes.sample_interval_s or SAMPLE_INTERVAL_S
    addresses = Addresses(watch, stream, page, audit, wishes.has_tls)
    # `zklake status` finds them there.
    directory.remember(ADDRESSES, addresses._asdict())
    return build_parts(
        site,
        addresses,
        directory.logs,
        options=wishes.options,
        # Nobody else may write this log: there is no silence to wait for.
        watch_options=["--take-over"],
        watch_environment={"ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": str(interval)},
    )
