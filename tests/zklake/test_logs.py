from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zklake.errors import SettingsError
from zklake.logs import configure_logging, escape, escape_event

ROOT = Path(__file__).parents[2]
HOSTILE = "/a\n2026-01-01T00:00:00Z [info] forged\r\x1b]0;owned\x07\x9b31m\u2028\u202e\ud800"
SET_UP = "import logging, structlog\nfrom zklake.logs import configure_logging\n"


def run_piped(code: str) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-c", SET_UP + code], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout == b"", "logs belong on stderr"
    return [json.loads(line) for line in done.stderr.decode("ascii").splitlines()]


def run_in_terminal(code: str, **environ: str) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", SET_UP + code],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "NO_COLOR": "", "PYTHONUTF8": "1", **environ},
    ) as process:
        os.close(theirs)
        chunks = []
        # Linux says EIO once the other side is closed.
        try:
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)
        except OSError:
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


def test_json_lines_in_a_pipe() -> None:
    first, second = run_piped(
        "configure_logging()\n"
        "log = structlog.get_logger()\n"
        "log.debug('unseen')\n"
        "log.info('connected', server='127.0.0.1:2181', timeout_ms=30000, tags=['a', None])\n"
        "structlog.contextvars.bind_contextvars(cluster='east')\n"
        "log.warning('slow')\n"
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", str(first.pop("timestamp")))
    assert first == {
        "event": "connected",
        "level": "info",
        "server": "127.0.0.1:2181",
        "timeout_ms": 30000,
        "tags": ["a", None],
    }
    assert second["cluster"] == "east"


def test_level_debug_shows_ours_but_not_the_libraries() -> None:
    lines = run_piped(
        "configure_logging('debug')\nconfigure_logging('debug')\n"
        "structlog.get_logger().debug('ours')\n"
        "logging.getLogger('kazoo.client').info('unseen')\n"
        "logging.getLogger('kazoo.client').warning('Connection dropped: %s', 'x\\ny')\n"
    )
    assert [line["event"] for line in lines] == ["ours", "Connection dropped: x\\ny"]
    assert lines[1]["logger"] == "kazoo.client"
    assert lines[1]["level"] == "warning"


def test_exceptions_are_rendered_without_the_values_of_variables() -> None:
    code = (
        "configure_logging()\n"
        "def fail():\n    password = 'can' + 'ary'\n    raise ValueError('it broke')\n"
        "for log in structlog.get_logger(), logging.getLogger('py4j'):\n"
        "    try:\n        fail()\n    except ValueError:\n        log.exception('failed')\n"
    )
    for line in run_piped(code):
        assert "ValueError: it broke" in str(line["exception"])
    text = run_in_terminal(code)
    assert text.count("ValueError: it broke") == 2
    assert "canary" not in text


def test_hostile_bytes_forge_no_line_and_reach_no_terminal() -> None:
    code = (
        f"hostile = {HOSTILE!r}\n"
        "configure_logging()\n"
        "log = structlog.get_logger()\n"
        "log.info(hostile, path=hostile, data=hostile.encode('utf-8', 'surrogatepass'))\n"
        "log.info('children', names=[hostile], stat={hostile: hostile}, other=KeyError(hostile))\n"
        "logging.getLogger(hostile).warning('%s', hostile)\n"
        "try:\n    raise ValueError(hostile)\n"
        "except ValueError:\n    log.exception('failed')\n"
    )
    text = run_in_terminal(code, NO_COLOR="1")
    assert not re.search(r"[^\n\x20-\x7e]", text)
    starts = [line for line in text.splitlines() if not line.startswith("  ")]
    assert len(starts) == 4
    assert not [line for line in starts if line.startswith("2026-01-01")]
    assert len(run_piped(code)) == 4


def test_colours_only_in_a_terminal_that_wants_them() -> None:
    code = "configure_logging()\nstructlog.get_logger().info('hello', broker=1)\n"
    assert "\x1b[" in run_in_terminal(code)
    plain = run_in_terminal(code, NO_COLOR="1")
    assert re.fullmatch(r"\S+Z \[info +\] hello +broker=1\n", plain)


def test_escape_keeps_what_people_write() -> None:
    assert escape("/brokers/topics/größe-主题 \\ 'x'") == "/brokers/topics/größe-主题 \\ 'x'"
    assert escape("a\nb\x1b\x7f\u202e\ud800") == r"a\nb\x1b\x7f\u202e\ud800"


def test_client_options_are_masked_when_logged_whole() -> None:
    event = escape_event(None, "info", {"event": "x", "client": {"sasl.password": "canary"}})
    assert event["client"] == {"sasl.password": "**********"}


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(SettingsError, match="'loud': expected one of debug, info"):
        configure_logging("loud")
