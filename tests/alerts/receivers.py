"""Real receivers on a free port: HTTP, and just enough of SMTP. Each keeps what it got."""

from __future__ import annotations

import base64
import json
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Post:
    key: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.body)
        return said


@dataclass
class HttpReceiver:
    """Answers `status` after `delay_s`; while `stalls` is set it takes a request for good."""

    port: int = 0
    status: int = 200
    stalls: bool = False
    delay_s: float = 0.0
    posts: list[Post] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=s3cret"

    def list_keys(self, event: str) -> list[str]:
        return [post.key for post in self.posts if post.message["event"] == event]

    @contextmanager
    def serve(self, context: ssl.SSLContext | None = None) -> Iterator[HttpReceiver]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                key = self.headers["Idempotency-Key"]
                receiver.posts.append(Post(key, dict(self.headers), body))
                receiver.arrived.set()
                if receiver.stalls:
                    receiver.released.wait(60)
                    return
                time.sleep(receiver.delay_s)
                with suppress(ConnectionError):  # who asked may be dead
                    self.send_response(receiver.status)
                    if receiver.status == 302:
                        self.send_header("Location", receiver.url)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        self.port = server.server_address[1]
        with _serving(server):
            yield self
        self.released.set()


@dataclass
class MailReceiver:
    """Takes mails; with a context only after STARTTLS and a login."""

    context: ssl.SSLContext | None = None
    refuses: bool = False
    strangers: tuple[str, ...] = ()
    farewell: str = "221 bye"
    port: int = 0
    logins: list[str] = field(default_factory=list)
    letters: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)

    @contextmanager
    def serve(self) -> Iterator[MailReceiver]:
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.say("220 ready")
                with suppress(ssl.SSLError):  # a stranger hangs up
                    _converse(self, receiver)
                if isinstance(self.request, ssl.SSLSocket):
                    self.request.close()

            def say(self, *lines: str) -> None:
                self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())

            def secure(self, context: ssl.SSLContext) -> None:
                self.request = context.wrap_socket(self.request, server_side=True)
                self.setup()

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.port = server.server_address[1]
        with _serving(server):
            yield self


def _converse(handler: Any, receiver: MailReceiver) -> None:
    to: list[str] = []
    is_secure = False
    # Anew for each line: STARTTLS brings another file.
    while raw := handler.rfile.readline():
        line = raw.decode().strip()
        word = line[:4].upper()
        if word == "EHLO":
            more = ["250-AUTH PLAIN"] if is_secure else []
            more += ["250-STARTTLS"] if receiver.context and not is_secure else []
            handler.say("250-here", *more, "250 8BITMIME")
        elif word == "STAR" and receiver.context:
            handler.say("220 go ahead")
            handler.secure(receiver.context)
            is_secure = True
        elif word == "AUTH":
            receiver.logins.append(base64.b64decode(line.split()[2]).decode())
            handler.say("235 welcome" if is_secure else "538 not without TLS")
        elif not _take_letter(handler, receiver, line, to):
            return


def _take_letter(handler: Any, receiver: MailReceiver, line: str, to: list[str]) -> bool:
    word = line[:4].upper()
    if word == "RCPT":
        name = line.partition("<")[2].partition(">")[0]
        if receiver.refuses or name in receiver.strangers:
            handler.say("550 nobody here")
        else:
            to.append(name)
            handler.say("250 fine")
    elif word == "DATA":
        handler.say("354 go on")
        lines = []
        for raw in iter(handler.rfile.readline, b".\r\n"):
            lines.append(raw[1:] if raw.startswith(b".") else raw)
        letter = message_from_bytes(b"".join(lines), policy=default)
        assert isinstance(letter, EmailMessage)
        receiver.letters.append(letter)
        receiver.recipients.append(list(to))
        handler.say("250 taken")
    elif word == "QUIT":
        handler.say(receiver.farewell)
        return False
    else:
        handler.say("250 fine")
    return True


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
