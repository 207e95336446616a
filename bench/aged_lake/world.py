"""The cluster of an aged lake, and when what happened: all of it SQL over numbers.

A day is a frame (a read of every znode), then equally spaced slots. Each beat of the day begins
with a heartbeat; chance, drawn from the seed, says which znode changes in each of its other slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from zklake.events.envelope import SEQ_PER_SECOND

DAY_MS = 86_400_000


@dataclass(frozen=True)
class Size:
    """How large; the defaults are a month of a busy cluster."""

    days: int = 30
    # Heartbeats of a day, and the slots from one to the next, itself included.
    beats: int = 1440
    slots: int = 80
    # Commits that the last day came in, in every table that changes all the time.
    commits: int = 20_000
    # Files of each earlier date.
    files: int = 8
    brokers: int = 6
    topics: int = 200
    partitions: int = 10
    groups: int = 100
    members: int = 4

    @property
    def day_slots(self) -> int:
        """Slots of a day."""
        return self.beats * self.slots


SMALL = Size(days=3, slots=4, commits=60, files=3, topics=6, partitions=3, groups=3, members=2)


@dataclass(frozen=True)
class World:
    """A cluster, its size, and where its days stand in the log."""

    cluster: str
    seed: int
    size: Size
    # The last day.
    last_day: date = date(2026, 11, 15)

    @property
    def log_id(self) -> str:
        """Of the log that the lake was folded from."""
        return f"aged-{self.seed}"

    @property
    def start_ms(self) -> int:
        """When the first day begins."""
        first = self.last_day - timedelta(days=self.size.days - 1)
        return int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp() * 1000)

    @property
    def first_seq(self) -> int:
        """Of the first frame's begin; so a log born at that moment would count."""
        return self.start_ms // 1000 * SEQ_PER_SECOND

    @property
    def znodes(self) -> int:
        """Znodes that a frame may meet."""
        size = self.size
        return (
            size.brokers
            + size.topics * (1 + size.partitions)
            + size.groups * (size.members + 2 * size.partitions)
        )

    @property
    def frame_length(self) -> int:
        """Records of a frame: its begin, a read each, its end."""
        return self.znodes + 2

    @property
    def day_length(self) -> int:
        """Seqs of a day."""
        return self.frame_length + self.size.day_slots

    @property
    def last_seq(self) -> int:
        """The watermark."""
        return self.first_seq + self.size.days * self.day_length - 1

    @property
    def last_offset(self) -> int:
        """Where the last record stands in Kafka."""
        return self.last_seq - self.first_seq

    def day_of(self, seq: str) -> str:
        """SQL: the number of the day of a seq."""
        return f"(({seq} - {self.first_seq}) / {self.day_length})"

    def commit_of(self, seq: str, commits: int) -> str:
        """SQL: in which of the last day's commits a seq came; the frame came with the first."""
        begun = self.first_seq + (self.size.days - 1) * self.day_length + self.frame_length
        share = f"({seq} - {begun}) * {commits} / {self.size.day_slots}"
        return f"least({commits - 1}, greatest(0, {share}))"

    def slots(self, low: int, high: int, things: int) -> str:
        """SQL: slots whose lot (of 1000) lies in [low, high), and which of the things changes.

        A few things change often, and most seldom.
        """
        size = self.size
        return (
            f"SELECT CAST({things} * share * share AS BIGINT) AS k, seq, ms FROM ("  # noqa: S608
            f"SELECT {self.seq_at()} AS seq, {self.ms_at()} AS ms, {_chance(self.seed)} AS lot, "
            f"({_chance(self.seed + 7)} * 1000 + {_chance(self.seed + 13)}) / 1000000.0 AS share "
            f"FROM (SELECT value AS n, value / {size.day_slots} AS d, "
            f"value % {size.day_slots} AS i "
            f"FROM generate_series(0, {size.days * size.day_slots - 1}))) "
            f"WHERE lot >= {low} AND lot < {high}"
            f" AND (seq - {self.first_seq}) % {self.day_length} >= {self.frame_length}"
            f" AND ((seq - {self.first_seq}) % {self.day_length} - {self.frame_length})"
            f" % {size.slots} > 0"
        )

    def seq_at(self) -> str:
        """SQL: the seq of the slot i of the day d."""
        return f"{self.first_seq} + d * {self.day_length} + {self.frame_length} + i"

    def ms_at(self) -> str:
        """SQL: when the slot i of the day d was."""
        return f"{self.start_ms} + d * {DAY_MS} + i * {DAY_MS} / {self.size.day_slots}"

    def heartbeats(self) -> str:
        """SQL: seq and ms of the heartbeats."""
        size = self.size
        return (
            f"SELECT {self.seq_at()} AS seq, {self.ms_at()} AS ms FROM ("  # noqa: S608
            f"SELECT value / {size.beats} AS d, value % {size.beats} * {size.slots} AS i "
            f"FROM generate_series(0, {size.days * size.beats - 1}))"
        )


def _chance(seed: int) -> str:
    """SQL: a number below 1000 that looks drawn, from n."""
    first = f"((n + {seed % 1000}) * 1103515245 + 12345) % 2147483648"
    return f"((({first}) / 32768 * 69069 + ({first}) % 32768 * 40503) % 2147483648 / 1024 % 1000)"
