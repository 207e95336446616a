"""/brokers/ids: who is a broker, and where it listens. 0.7 wrote text, later releases JSON."""

from __future__ import annotations

import re

import msgspec

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import (
    Document,
    Int32,
    Stamped,
    Unreadable,
    read_text,
)


class Broker(Stamped, frozen=True, kw_only=True):
    """A broker registration. Its epoch is not in the data: it is the znode's czxid."""

    # null and -1 when no PLAINTEXT listener exists: take addresses from endpoints.
    host: str | None = None
    port: Int32 = -1
    jmx_port: Int32 = -1
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    listener_security_protocol_map: dict[str, str] = msgspec.field(default_factory=dict)
    features: dict[str, dict[str, Int32]] = msgspec.field(default_factory=dict)
    # 0.7 only: host-startMillis.
    creator_id: str | None = None


_REGISTRATION = Document(
    Broker,
    {
        1: ("host", "port"),
        2: ("endpoints",),
        3: ("endpoints",),
        4: ("endpoints", "listener_security_protocol_map"),
        5: ("endpoints", "listener_security_protocol_map"),
    },
)

# Three fields, not two: creatorId:host:port. An IPv6 host brings colons of its own.
_TEXT = re.compile(r"([^:{}\"\s]+):([^{}\"\s]+):([0-9]{1,5})")


def decode_broker(data: bytes | None) -> Broker | Unreadable:
    """A registration of any release."""
    text = read_text(data)
    if isinstance(text, Unreadable):
        return text
    if old := _TEXT.fullmatch(text):
        return Broker(creator_id=old[1], host=old[2], port=int(old[3]))
    if not text.lstrip().startswith("{"):
        return Unreadable("not_recognised", "neither JSON nor creatorId:host:port")
    return _REGISTRATION.read(text)


_SAMPLES = (
    Sample("0.7", b"10.0.0.5-1315436360737:10.0.0.5:9092"),
    Sample(
        "0.8.0-0.8.2",
        b'{"jmx_port":-1,"timestamp":"1794793246657","host":"k1.example","version":1,"port":9092}',
    ),
    Sample(
        "0.9.0",
        b'{"version":2,"host":"k1.example","port":9092,"jmx_port":9999,'
        b'"timestamp":"1794793246657","endpoints":["PLAINTEXT://k1.example:9092"]}',
    ),
    Sample(
        "0.10.0-0.10.1",
        b'{"version":3,"host":"k1.example","port":9092,"jmx_port":-1,"rack":"az-a",'
        b'"timestamp":"1794793246657","endpoints":["PLAINTEXT://k1.example:9092"]}',
    ),
    Sample(
        "0.10.2-2.6",
        b'{"version":4,"host":null,"port":-1,"jmx_port":-1,"timestamp":"1794793246657",'
        b'"endpoints":["INT://k1.example:9094"],'
        b'"listener_security_protocol_map":{"INT":"SASL_SSL"}}',
    ),
    Sample(
        "2.7-3.9",
        b'{"version":5,"host":"k1.example","port":9092,"jmx_port":-1,'
        b'"timestamp":"1794793246657","rack":"az-a",'
        b'"features":{"metadata.version":{"min_version":1,"max_version":3}},'
        b'"endpoints":["PLAINTEXT://k1.example:9092","INT://k1.example:9094"],'
        b'"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT","INT":"SASL_SSL"}}',
    ),
)

KINDS = (
    directory("brokers_dir", "/brokers", "0.7-3.9"),
    directory("broker_ids_dir", "/brokers/ids", "0.7-3.9"),
    Kind(
        "broker",
        "/brokers/ids/[broker_id]",
        "0.7-3.9",
        "a broker's registration; 2.2+ creates it with null data and sets it in one transaction",
        decode_broker,
        _SAMPLES,
        mode="ephemeral",
    ),
    Kind(
        "broker_seqid",
        "/brokers/seqid",
        "0.9-3.9",
        "no data: its version counts the broker ids that were generated",
        sensitivity="empty",
    ),
)
