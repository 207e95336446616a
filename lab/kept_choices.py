"""What an embedded cluster keeps from run to run: its ports, and how many brokers it has."""

from __future__ import annotations

from lab.ports import find_free_ports, take_port
from zklake.errors import LabError
from zklake.supervision.run_directory import RunDirectory


def choose_port(directory: RunDirectory, name: str, wish: int | None = None) -> int:
    """The port that this name had before, or the wished one, if it is free; else another."""
    known = directory.recall("ports")
    ports = known if isinstance(known, dict) else {}
    wanted = ports.get(name, wish)
    if not (isinstance(wanted, int) and 0 < wanted < 1 << 16 and take_port(wanted)):
        wanted = find_free_ports(1)[0]
    directory.remember("ports", {**ports, name: wanted})
    return wanted


def keep_brokers(directory: RunDirectory, wanted: int | None, otherwise: int) -> int:
    """How many brokers the cluster has: data of three is nothing for two."""
    known = directory.recall("brokers")
    if known is not None and wanted not in (None, known):
        raise LabError(
            f"the cluster in {directory.path} has {known} brokers, not {wanted}: "
            "leave --brokers away, begin anew with --fresh, or give another --dir"
        )
    count: int = known or wanted or otherwise
    directory.remember("brokers", count)
    return count
