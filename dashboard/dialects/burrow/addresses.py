"""Every address of Burrow's API that answers a GET, and what answers it. Names stand in braces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dashboard.dialects.burrow import config, kafka
from dashboard.dialects.burrow.question import BurrowAnswer, Question


class Address(NamedTuple):
    """A path with names in it."""

    path: str
    summary: str
    answer: Callable[[Question], BurrowAnswer]

    def match(self, segments: Sequence[str]) -> tuple[str, ...] | None:
        """The names, if a path has this form; segments of a path that are no names are fixed."""
        wanted = split(self.path)
        if len(wanted) != len(segments):
            return None
        pairs = list(zip(wanted, segments, strict=True))
        if any(not _is_name(part) and part != given for part, given in pairs):
            return None
        return tuple(given for part, given in pairs if _is_name(part))


ADDRESSES = (
    Address("/v3/kafka", "The clusters", kafka.list_clusters),
    Address("/v3/kafka/{cluster}", "The cluster's brokers", config.show_cluster),
    Address("/v3/kafka/{cluster}/topic", "Its topics", kafka.list_topics),
    Address("/v3/kafka/{cluster}/topic/{topic}", "A topic's log ends", kafka.show_topic),
    Address(
        "/v3/kafka/{cluster}/topic/{topic}/consumers",
        "The groups that commit to a topic",
        kafka.list_topic_consumers,
    ),
    Address("/v3/kafka/{cluster}/consumer", "The consumer groups", kafka.list_consumers),
    Address("/v3/kafka/{cluster}/consumer/{group}", "A group's commits", kafka.show_consumer),
    Address(
        "/v3/kafka/{cluster}/consumer/{group}/status",
        "How a group is doing, with the partitions that are not OK",
        kafka.show_status,
    ),
    Address(
        "/v3/kafka/{cluster}/consumer/{group}/lag",
        "How a group is doing, with all of its partitions",
        kafka.show_lag,
    ),
    Address("/v3/config", "Settings, in Burrow's words", config.show_main),
    Address("/v3/config/{kind}", "The modules of one kind", config.list_modules),
    Address("/v3/config/{kind}/{name}", "One module", config.show_module),
    Address("/v3/admin/loglevel", "The log level of the dashboard", config.show_log_level),
)


def split(path: str) -> list[str]:
    """The segments of a path; a slash at its end is none."""
    return path.removesuffix("/").split("/")[1:]


def _is_name(part: str) -> bool:
    return part.startswith("{")
