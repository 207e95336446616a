"""What the watcher tells Prometheus. Values are read when scraped; no path is ever a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from zklake.events.envelope import GapReason

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class Latency:
    """A histogram of seconds, filled by the daemon."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self._sum += seconds
        for index, bound in enumerate(_BUCKETS):
            if seconds <= bound:
                self._counts[index] += 1
                return
        self._counts[-1] += 1

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """Cumulative counts by upper bound, and the sum."""
        total, told = 0, []
        for bound, count in zip((*map(str, _BUCKETS), "+Inf"), self._counts, strict=True):
            total += count
            told.append((bound, float(total)))
        return told, self._sum


class Numbers:
    """The state of one watcher, as plain numbers; the daemon keeps it."""

    def __init__(self) -> None:
        self.gauges: dict[str, float] = {}
        self.counters: dict[str, float] = {}
        self.events: dict[tuple[str, str], int] = {}
        self.gaps: dict[GapReason, int] = {}
        self.gap_seconds: dict[GapReason, float] = {}
        self.state = "starting"
        # From the oldest event of a batch to its commit, and from a read to its answer.
        self.latency, self.reads = Latency(), Latency()

    def count(self, name: str, more: float = 1) -> None:
        """Add to a counter; each has one writer."""
        self.counters[name] = self.counters.get(name, 0) + more


GAUGES = {
    "zookeeper_connected": "1 while a ZooKeeper connection is up.",
    "log_connected": "1 while the log's Kafka answers.",
    "in_sync": "1 while the log says all there is.",
    "is_standby": "1 while another watcher writes the log.",
    "zxid": "Highest zxid seen.",
    "server_zxid": "Highest zxid the server has named, in events, answers and pings.",
    "told_zxid": "Highest zxid up to which everything is told: a restart goes on from it.",
    "seq": "Last seq given.",
    "committed_seq": "Last seq committed in Kafka.",
    "znodes": "Znodes in the model.",
    "model_bytes": "About how many bytes the model takes.",
    "unreadable_znodes": "Znodes that ZooKeeper's ACL keeps from us.",
    "inbox_bytes": "Bytes of messages waiting for the core.",
    "buffer_bytes": "Bytes of events waiting for Kafka.",
    "unread_bytes": "About how many bytes events hold that wait for a value to be read.",
    "events_waiting": "Events that wait for a value to be read.",
    "reads_in_flight": "Reads sent to ZooKeeper and not answered.",
    "last_heartbeat_seconds": "Unix time of the last heartbeat.",
    "scan_seconds": "Duration of the last complete scan.",
    "coalescing": "1 when the server has one-shot watches only.",
    "sampled_partitions": "Partitions whose log ends are sampled.",
    "sample_round_seconds": "From the requests of the last sampling round to its record.",
    "sample_turn_seconds": "The last sampling turn: commits taken and told, then that round.",
    "group_partitions_behind": "Partitions of __consumer_offsets not read to their end.",
    "group_records_unreadable": "Records of __consumer_offsets that could not be decoded.",
}
COUNTERS = {
    "missed_versions": "Data versions that nobody saw, by the counters of surviving znodes.",
    "unseen_lives": "Znodes that came and went unseen, by their parents' cversion.",
    "audits": "Complete audits of the tree.",
    "audit_differences": "Differences found by audits: expected 0.",
    "kafka_failures": "Times publishing had to start over.",
    "aborts": "Transactions that were aborted, or lost sight of, and made again.",
    "connections": "ZooKeeper connections made.",
    "sample_rounds": "Sampling rounds told; a slow broker has rounds of its own.",
    "sample_rounds_skipped": "Rounds left out because the log's Kafka did not keep up.",
    "sample_failures": "Rounds that failed by an error of our own: expected 0.",
    "sample_broker_failures": "Brokers that did not answer a round.",
    "group_commits_seen": "Offset commits of Kafka-stored groups seen.",
    "group_commits_published": "Offset commits told: the last of each key in an interval.",
    "group_states_published": "Group states told.",
}


class WatcherCollector:
    """Turns the numbers into metrics when somebody asks."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterable[Metric]:
        """Every metric of the watcher."""
        numbers = self._numbers
        for name, text in GAUGES.items():
            value = numbers.gauges.get(name, 0)
            yield GaugeMetricFamily(f"zklake_watcher_{name}", text, value=value)
        for name, text in COUNTERS.items():
            value = numbers.counters.get(name, 0)
            yield CounterMetricFamily(f"zklake_watcher_{name}", text, value=value)
        yield self._events()
        yield self._by_reason("gaps", "Gaps declared.", numbers.gaps)
        text = "Seconds in which a gap was open, by the reason that opened it."
        yield self._by_reason("gap_seconds", text, numbers.gap_seconds)
        text = "From the oldest event of a batch to its commit in Kafka."
        yield _histogram("commit_seconds", text, numbers.latency)
        yield _histogram("read_seconds", "From a ZooKeeper read to its answer.", numbers.reads)

    def _events(self) -> Metric:
        family = CounterMetricFamily(
            "zklake_watcher_events", "Events released.", labels=("op", "fidelity")
        )
        for (op, fidelity), count in sorted(self._numbers.events.items()):
            family.add_metric((op, fidelity), count)
        return family

    def _by_reason(self, name: str, text: str, values: Mapping[GapReason, float]) -> Metric:
        family = CounterMetricFamily(f"zklake_watcher_{name}", text, labels=("reason",))
        for reason, value in sorted(values.items()):
            family.add_metric((reason,), value)
        return family


def _histogram(name: str, text: str, latency: Latency) -> Metric:
    buckets, total = latency.buckets()
    return HistogramMetricFamily(f"zklake_watcher_{name}", text, buckets=buckets, sum_value=total)


def build_registry(numbers: Numbers) -> CollectorRegistry:
    """A registry of the watcher's own."""
    registry = CollectorRegistry()
    registry.register(WatcherCollector(numbers))
    return registry
