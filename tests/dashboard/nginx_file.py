"""deploy/nginx/zklake.conf, run: by nginx, or by a small proxy that does what its lines say.

The small one knows `map` of $remote_user, `proxy_set_header` and basic authentication by a file of
{PLAIN} passwords, and nothing else of nginx. It speaks HTTP and opens a connection per request.
"""

from __future__ import annotations

import base64
import http.client
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from dashboard.tls import Tls
from lab.ports import find_free_ports
from tests.dashboard.sockets import PATIENCE_S, open_socket, wait_for

RECIPE = Path(__file__).parents[2] / "deploy" / "nginx" / "zklake.conf"
_PLACES = ("zklake.crt", "zklake.key", "zklake.htpasswd", "zklake_secret.conf")
_WRAP = """
daemon off;
master_process off;
pid {place}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    {recipe}
}}
"""


class Recipe(NamedTuple):
    """The file and what it includes, with the places and addresses of a test."""

    text: str
    port: int
    directory: Path


def write_recipe(
    directory: Path, upstream: str, tls: Tls, users: dict[str, str], secret: str
) -> Recipe:
    """What docs/deploying.md tells to do, in a directory of our own."""
    shutil.copy(tls.cert, directory / "zklake.crt")
    shutil.copy(tls.key, directory / "zklake.key")
    lines = [f"{name}:{{PLAIN}}{password}\n" for name, password in users.items()]
    (directory / "zklake.htpasswd").write_text("".join(lines))
    line = f'proxy_set_header X-Zklake-Proxy-Secret "{secret}";\n'
    (directory / "zklake_secret.conf").write_text(line)
    (port,) = find_free_ports(1)
    text = RECIPE.read_text()
    changes = {"listen 443 ssl": f"listen 127.0.0.1:{port} ssl", "http://127.0.0.1:8080": upstream}
    changes |= {f"/etc/nginx/{name}": str(directory / name) for name in _PLACES}
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return Recipe(text, port, directory)


@contextmanager
def run_nginx(recipe: Recipe) -> Iterator[str]:
    """nginx with this file; yields its address."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin") or shutil.which("nginx")
    if program is None:
        pytest.skip("NOT WITH NGINX: it is not installed (Debian: apt-get install nginx)")
    whole = recipe.directory / "nginx.conf"
    whole.write_text(_WRAP.format(place=recipe.directory, recipe=recipe.text))
    process = subprocess.Popen([program, "-p", str(recipe.directory), "-c", str(whole)])
    try:
        assert wait_for(lambda: process.poll() is not None or _is_open(recipe.port))
        assert process.poll() is None, "nginx did not start"
        yield f"https://127.0.0.1:{recipe.port}"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _is_open(port: int) -> bool:
    try:
        open_socket(f"http://127.0.0.1:{port}").close()
    except OSError:
        return False
    return True


@contextmanager
def run_small_proxy(recipe: Recipe) -> Iterator[str]:
    """A proxy that reads the same file."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _build_handler(recipe))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _build_handler(recipe: Recipe) -> type[BaseHTTPRequestHandler]:
    included = (recipe.directory / "zklake_secret.conf").read_text()
    sets = re.findall(r'^\s*proxy_set_header\s+(\S+)\s+"?([^";]*)"?;', recipe.text + included, re.M)
    (mapped,) = re.findall(r"map \$remote_user \$zklake_role \{([^}]*)\}", recipe.text)
    roles: dict[str, str] = dict(re.findall(r"(\w+)\s+(\w+);", mapped))
    (upstream,) = re.findall(r"proxy_pass http://([^;]+);", recipe.text)
    users = dict(
        re.findall(
            r"^(\w+):\{PLAIN\}(.*)$", (recipe.directory / "zklake.htpasswd").read_text(), re.M
        )
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            scheme, _, given = self.headers.get("authorization", "").partition(" ")
            name, _, password = base64.b64decode(given).decode().partition(":")
            if scheme != "Basic" or users.get(name) != password:
                self.send_response(401)
                self.end_headers()
                return
            known = {
                "$host": self.headers["host"].partition(":")[0],
                "$remote_addr": self.client_address[0],
                "$remote_user": name,
                "$zklake_role": roles.get(name, roles["default"]),
            }
            # As nginx: what is set replaces what came, and what is set to nothing is not sent.
            replaced = {one.lower(): known.get(value, value) for one, value in sets}
            kept = [
                (key, value) for key, value in self.headers.items() if key.lower() not in replaced
            ]
            self._forward([*kept, *((key, value) for key, value in replaced.items() if value)])

        def _forward(self, headers: list[tuple[str, str]]) -> None:
            connection = http.client.HTTPConnection(upstream, timeout=PATIENCE_S)
            connection.putrequest("GET", self.path, skip_host=True, skip_accept_encoding=True)
            for key, value in headers:
                connection.putheader(key, value)
            connection.endheaders()
            answer = connection.getresponse()
            self.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() != "transfer-encoding":
                    self.send_header(key, value)
            self.end_headers()
            while part := answer.read1():
                self.wfile.write(part)
            connection.close()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
