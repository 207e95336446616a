"""Every error a user can meet has one root; its exit code says which kind it was.

ZklakeError                 1   something failed; the message says what, where, and what to do
├── SettingsError           2   a setting is wrong or unknown (all of them are listed at once)
├── JavaError               3   no Java, or one that is too old
├── JarError                4   a JAR is missing, cannot be fetched, or is not the one in jars.lock
├── LabError                5   a server of the lab did not start or died
├── ZooKeeperError          6   ZooKeeper cannot be reached, or will not let us watch
├── LogError                7   the log's Kafka cannot be reached, or refuses
│   ├── TopicRefused        8   a topic of ours exists with settings that would lose history
│   └── Fenced              9   another watcher took this cluster's log over
├── LakeError              10   a table cannot be read or written
│   └── OtherLog           11   the lake was folded from another log
├── QueryError             12   a query is not allowed, wrong, or took too much
│   └── QueryCancelled     14   who asked it is gone
├── BusyError              13   too many ask at a time; the same query may be answered later
└── RunError               15   `zklake run` cannot start, or a part of it ended for good
"""

from __future__ import annotations


class ZklakeError(Exception):
    """The root: catch this to catch everything zklake raises on purpose."""

    exit_code = 1


class SettingsError(ZklakeError):
    """A setting is wrong or unknown."""

    exit_code = 2


class JavaError(ZklakeError):
    """No Java, or one that is too old."""

    exit_code = 3


class JarError(ZklakeError):
    """A JAR is missing, cannot be fetched, or is not the one in jars.lock."""

    exit_code = 4


class LabError(ZklakeError):
    """A server of the lab did not start or died."""

    exit_code = 5


class ZooKeeperError(ZklakeError):
    """ZooKeeper cannot be reached, or will not let us watch."""

    exit_code = 6


class LogError(ZklakeError):
    """The log's Kafka cannot be reached, or refuses."""

    exit_code = 7


class TopicRefused(LogError):
    """A topic of ours exists with settings that would lose history."""

    exit_code = 8


class Fenced(LogError):
    """Another watcher took this cluster's log over."""

    exit_code = 9


class LakeError(ZklakeError):
    """A table cannot be read or written."""

    exit_code = 10


class OtherLog(LakeError):
    """The lake was folded from another log."""

    exit_code = 11


class QueryError(ZklakeError):
    """A query is not allowed, wrong, or took too much."""

    exit_code = 12


class QueryCancelled(QueryError):
    """Who asked the query is gone."""

    exit_code = 14


class BusyError(ZklakeError):
    """Too many ask at a time; the same query may be answered later."""

    exit_code = 13


class RunError(ZklakeError):
    """`zklake run` cannot start, or a part of it ended for good."""

    exit_code = 15
