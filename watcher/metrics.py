"""What the watcher counts for Prometheus. No path is ever a label."""

from __future__ import annotations

from prometheus_client import Counter

from zklake.metrics import Metrics, counter, gauge, histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class WatcherMetrics(Metrics):
    """One watcher; `state` says in words what it is doing."""

    PREFIX = "zklake_watcher"

    zookeeper_connected = gauge("1 while a ZooKeeper connection is up.")
    log_connected = gauge("1 while the log's Kafka answers.")
    in_sync = gauge("1 while the log is complete.")
    is_standby = gauge("1 while another watcher writes the log.")
    zxid = gauge("Highest zxid seen.")
    server_zxid = gauge("Highest zxid the server has named, in events, answers and pings.")
    published_zxid = gauge(
        "Highest zxid up to which everything is in the log: a restart continues from it."
    )
    seq = gauge("Last seq given.")
    committed_seq = gauge("Last seq committed in Kafka.")
    znodes = gauge("Znodes in the model.")
    model_bytes = gauge("About how many bytes the model takes.")
    unreadable_znodes = gauge("Znodes that ZooKeeper's ACL keeps from us.")
    inbox_bytes = gauge("Bytes of messages waiting for the core.")
    buffer_bytes = gauge("Bytes of events waiting for Kafka.")
    unread_bytes = gauge("About how many bytes events hold that wait for a value to be read.")
    events_waiting = gauge("Events that wait for a value to be read.")
    reads_in_flight = gauge("Reads sent to ZooKeeper and not answered.")
    last_heartbeat_seconds = gauge("Unix time of the last heartbeat.")
    scan_seconds = gauge("Duration of the last complete scan.")
    coalescing = gauge("1 when the server has one-shot watches only.")
    sampled_partitions = gauge("Partitions whose log ends are sampled.")
    sample_round_seconds = gauge("From the requests of the last sampling round to its record.")
    sample_turn_seconds = gauge(
        "The last sampling turn: commits read and published, then that round; must stay below "
        "watcher.sample_interval_s."
    )
    group_partitions_behind = gauge("Partitions of __consumer_offsets not read to their end.")
    group_records_unreadable = gauge("Records of __consumer_offsets that could not be decoded.")
    missed_versions = counter("Data versions that nobody saw, by the counters of surviving znodes.")
    unseen_lives = counter("Znodes that came and went unseen, by their parents' cversion.")
    audits = counter("Complete audits of the tree.")
    audit_differences = counter(
        "Differences found by audits: expected 0, but a setACL counts as one."
    )
    kafka_failures = counter("Times publishing had to start over.")
    aborts = counter("Transactions that were aborted, or lost sight of, and made again.")
    connections = counter("ZooKeeper connections made.")
    sample_rounds = counter("Sampling rounds published; a slow broker has rounds of its own.")
    sample_rounds_skipped = counter("Rounds left out because the log's Kafka did not keep up.")
    sample_failures = counter("Rounds that failed by an error of our own: expected 0.")
    sample_broker_failures = counter("Brokers that did not answer a round.")
    group_commits_seen = counter("Offset commits of Kafka-stored groups seen.")
    group_commits_published = counter(
        "Offset commits published: the last of each key in an interval."
    )
    group_states_published = counter("Group states published.")
    events = counter("Events released.", "op", "fidelity")
    gaps = counter("Gaps declared.", "reason")
    gap_seconds = counter(
        "Seconds in which a gap was open, by the reason that opened it.", "reason"
    )
    commit_seconds = histogram(
        "From the oldest event of a batch to its commit in Kafka.", buckets=_SECONDS
    )
    read_seconds = histogram(
        "From a ZooKeeper read to its answer; one at a time is timed.", buckets=_SECONDS
    )

    def __init__(self) -> None:
        super().__init__()
        self.state = "starting"


class Totals:
    """Counters of what the core keeps as totals: each gets what its total has grown by."""

    def __init__(self) -> None:
        self._counted: dict[Counter, float] = {}

    def follow(self, counter: Counter, total: float) -> None:
        """Bring the counter up to this total."""
        counter.inc(total - self._counted.get(counter, 0))
        self._counted[counter] = total
