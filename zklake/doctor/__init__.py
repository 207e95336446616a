"""`zklake doctor`: is this machine, with these versions and addresses, fit to run zklake?

Checks only look: none writes, fetches or repairs.
"""

from __future__ import annotations

from zklake.doctor.finding import Check, Finding, Subject, choose_subject
from zklake.doctor.kafka import check_log, check_watched
from zklake.doctor.machine import check_disk, check_java, check_ports
from zklake.doctor.versions import check_hashes, check_lock, check_pyspark
from zklake.doctor.zookeeper import check_zookeeper

__all__ = ["CHECKS", "Finding", "Subject", "choose_subject", "examine"]

CHECKS: tuple[Check, ...] = (
    check_java,
    check_pyspark,
    check_lock,
    check_hashes,
    check_disk,
    check_ports,
    check_zookeeper,
    check_log,
    check_watched,
)


def examine(subject: Subject) -> list[Finding]:
    """Run every check."""
    return [finding for check in CHECKS for finding in check(subject)]
