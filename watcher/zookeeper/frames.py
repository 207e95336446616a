"""ZooKeeper's wire format, as far as a reader of a tree needs it: requests out, messages in.

Pure: bytes and messages only, no sockets, no kazoo. Paths are relative to the chroot on our side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from struct import Struct

from watcher.messages import Message, Reply, Request, WatchEvent, ZnodeStat
from zklake.errors import ZooKeeperError

WATCH_XID = -1
# kazoo's range: xids start again at 1 after this one.
LAST_XID = 0x7FFFFFFF
# An answer with one of these ends the connection: connection loss, session expired, session moved.
CONNECTION_LOSS, SESSION_EXPIRED, SESSION_MOVED = -4, -112, -118

# By request and watch: the opcode, and what follows the path.
_SHAPES = {
    ("get", False): (4, b"\0"),
    ("get", True): (4, b"\1"),
    ("sync", False): (9, b""),
    ("children", False): (12, b"\0"),
    ("children", True): (12, b"\1"),
    ("add_watch", False): (106, b"\0\0\0\1"),  # recursive
}
# Far above jute.maxbuffer (1 MiB by default): a longer frame is not ZooKeeper speaking.
_MAX_FRAME = 256 << 20

_int = Struct(">i").unpack_from
_ask = Struct(">iiii").pack  # length, xid, opcode, length of the path
_head = Struct(">iiqi").unpack_from  # length, xid, zxid, error
_event = Struct(">iii").unpack_from  # type, state, length of the path
_stat = Struct(">qqqqiiiqiiq").unpack_from
_new = tuple.__new__  # half the price of calling a NamedTuple, on the hottest lines we have


class FrameError(ZooKeeperError):
    """The server sent something that is not the ZooKeeper protocol."""


def encode(requests: Iterable[Request], last_xid: int, chroot: str) -> tuple[bytes, int]:
    """Frames for all requests in one piece, and the xid of the last one."""
    parts: list[bytes] = []
    xid = last_xid
    for op, path, watch in requests:
        xid = xid % LAST_XID + 1
        raw = (_absolute(path, chroot) if chroot else path).encode()
        opcode, tail = _SHAPES[op, watch]
        parts += (_ask(12 + len(raw) + len(tail), xid, opcode, len(raw)), raw, tail)
    return b"".join(parts), xid


def _absolute(path: str, chroot: str) -> str:
    return chroot if path == "/" else chroot + path


class FrameReader:
    """Cuts the byte stream of one connection into messages, matching answers to what was asked."""

    def __init__(self, chroot: str = "", last_xid: int = 0) -> None:
        """`last_xid`: the one before that of the first request to be asked."""
        # What was sent and not answered yet, in order: the sender appends, the reader takes away.
        self.asked: deque[Request] = deque()
        # Frames that answer none of our requests: pings, auth, close. They are kazoo's.
        self.foreign: deque[bytes] = deque()
        # The highest zxid seen, in answers and in events.
        self.zxid = 0
        # Set by an answer that says that this connection is at its end.
        self.fatal: int | None = None
        self._xid = last_xid
        self._chroot = chroot.encode()
        self._parts: list[bytes] = []
        self._size = 0
        self._needed = 20

    def feed(self, chunk: bytes) -> list[Message]:
        """All messages that are complete with this chunk; raises FrameError or struct.error."""
        self._parts.append(chunk)
        self._size += len(chunk)
        # A large answer comes in many chunks: they are joined once, when its end is there.
        return self._cut(b"".join(self._parts)) if self._size >= self._needed else []

    def _cut(self, buffer: bytes) -> list[Message]:
        messages: list[Message] = []
        append, asked, chroot, top = messages.append, self.asked, self._chroot, self.zxid
        skip = 32 + len(chroot)
        position, size, needed = 0, len(buffer), 20
        while size - position >= 20:
            length, xid, zxid, error = _head(buffer, position)
            if not 16 <= length <= _MAX_FRAME:
                raise FrameError(f"the server sent a frame of {length} bytes")
            after = position + 4 + length
            if after > size:
                needed = 4 + length
                break
            if zxid > top:  # noqa: PLR1730  # no call per frame
                top = zxid
            if xid == WATCH_XID:
                # The last byte of the type; the state (always connected) and the path follow.
                kind = buffer[position + 23]
                if 1 <= kind <= 4 and buffer.startswith(chroot, position + 32):
                    path = str(buffer[position + skip : after], "utf-8", "replace") or "/"
                    # Else it is a sibling, whose name begins like the chroot's.
                    if path[0] == "/":
                        append(_new(WatchEvent, (zxid, kind, path)))
            elif xid > 0 and asked:
                append(self._answer(buffer, position, xid, zxid, error))
                if self.fatal is not None:
                    messages.pop()
                    break
            else:
                self.foreign.append(buffer[position + 4 : after])
            position = after
        rest = buffer[position:]
        self._parts, self._size, self._needed, self.zxid = [rest], len(rest), needed, top
        return messages

    def _answer(self, buffer: bytes, position: int, xid: int, zxid: int, error: int) -> Reply:
        op, path, _ = self.asked.popleft()
        self._xid = expected = self._xid % LAST_XID + 1
        if xid != expected:
            raise FrameError(f"the server answered request {xid} where {expected} was next")
        at = position + 20
        if error:
            if error in (CONNECTION_LOSS, SESSION_EXPIRED, SESSION_MOVED):
                self.fatal = error
        elif op == "get":
            (length,) = _int(buffer, at)
            at += 4
            # A length of -1 is null: a znode without data, which is not one with empty data.
            data = buffer[at : at + length] if length >= 0 else None
            stat = _new(ZnodeStat, _stat(buffer, at + max(length, 0)))
            return _new(Reply, (op, path, 0, zxid, data, stat, None))
        elif op == "children":
            names, at = _names(buffer, at)
            stat = _new(ZnodeStat, _stat(buffer, at))
            return _new(Reply, (op, path, 0, zxid, None, stat, names))
        return Reply(op, path, error, zxid)


def _names(buffer: bytes, at: int) -> tuple[list[str], int]:
    (count,) = _int(buffer, at)
    at += 4
    names = []
    for _ in range(count):
        (length,) = _int(buffer, at)
        at += 4 + length
        names.append(str(buffer[at - length : at], "utf-8", "replace"))
    return names, at
