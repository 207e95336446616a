"""How many wrong logins are heard: so many a minute from one address, and from all strangers.

Beyond that a login is not even looked at, be it right or wrong.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

_MINUTE_S, _HOUR_S = 60.0, 3600.0
# Addresses that are remembered; the one that was not heard of for longest is forgotten.
_MOST_ADDRESSES = 4096
# Who tries from many addresses is held back by what all strangers together may do.
_STRANGERS = 10


@dataclass
class _Tries:
    left: float
    at: float
    # When who was let in: accounts, and whom a proxy has logged in.
    right_at: dict[str, float] = field(default_factory=dict)


class Throttle:
    """Counts wrong logins. For one event loop: nothing here is locked."""

    def __init__(self, a_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._now = a_minute, now
        self._by_address: OrderedDict[str, _Tries] = OrderedDict()
        self._strangers = _Tries(a_minute * _STRANGERS, now())

    def find_wait(self, address: str) -> float:
        """Seconds until a login from there is looked at; 0: now."""
        if not self._most:
            return 0.0
        tries = self._find(address)
        wait = self._wait_for(tries, self._most)
        strangers = self._wait_for(self._strangers, self._most * _STRANGERS)
        # Strangers cannot keep out who was let in within the hour.
        if self._now() - max(tries.right_at.values(), default=float("-inf")) < _HOUR_S:
            return wait
        return max(wait, strangers)

    def note_wrong(self, address: str) -> bool:
        """One more; whether the next from there has to wait."""
        if not self._most:
            return False
        self.find_wait(address)  # counts what has come back meanwhile, up to the most
        self._find(address).left -= 1
        self._strangers.left -= 1
        return self.find_wait(address) > 0

    def note_right(self, address: str, who: str) -> bool:
        """Whether it is their first login from there within an hour."""
        tries, now = self._find(address), self._now()
        if now - tries.right_at.get(who, float("-inf")) < _HOUR_S:
            return False
        tries.right_at[who] = now
        return True

    def _wait_for(self, tries: _Tries, most: int) -> float:
        now, a_second = self._now(), most / _MINUTE_S
        tries.left = min(float(most), tries.left + (now - tries.at) * a_second)
        tries.at = now
        return 0.0 if tries.left >= 1 else (1 - tries.left) / a_second

    def _find(self, address: str) -> _Tries:
        name = name_network(address)
        tries = self._by_address.setdefault(name, _Tries(self._most, self._now()))
        self._by_address.move_to_end(name)
        if len(self._by_address) > _MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        return tries


def name_network(address: str) -> str:
    """The address; of IPv6 its first half, for one host has all of the other."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv6Address) and known.ipv4_mapped is None:
        return str(IPv6Address(int(known) >> 64 << 64))
    return str(known)
