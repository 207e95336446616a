"""How a member names itself and what it writes into /consumers/[group]/ids.

No I/O; host, clock and random number of a name can be handed in.
"""

from __future__ import annotations

import json
import socket
import time
import uuid

from zklake.events.payloads.consumer import Consumer


def name_suffix(
    host: str | None = None, start_ms: int | None = None, random_id: uuid.UUID | None = None
) -> str:
    """The part of a consumer id after `group_`: host-startMillis-8hex."""
    high_half = (random_id or uuid.uuid4()).hex[:16]
    # Java's toHexString drops leading zeros before the first eight digits are taken.
    digits = f"{int(high_half, 16):x}"[:8]
    return f"{host or socket.gethostname()}-{start_ms or int(time.time() * 1000)}-{digits}"


def name_member(group: str, suffix: str | None = None) -> str:
    """The consumer id; `suffix` is the original's setting `consumer.id`."""
    return f"{group}_{suffix or name_suffix()}"


def encode_registration(member: Consumer, timestamp_ms: int) -> bytes:
    """The JSON of 0.8.2-0.11 (backslashes of a regex escaped once)."""
    return json.dumps(
        {
            "version": 1,
            "subscription": member.subscription,
            "pattern": member.pattern,
            "timestamp": str(timestamp_ms),
        },
        separators=(",", ":"),
    ).encode()
