"""Messages to real receivers, and names that would like to be more than names."""

from __future__ import annotations

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from alerts.command import CommandTransport
from alerts.delivery import Delivery, Event, list_listeners, make_delivery
from alerts.incident import Incident, IncidentSubject
from alerts.mail import MailTransport, write_letter
from alerts.message import write_subject
from alerts.sending import build_transport, find_wait_s
from alerts.transport import SendFailed
from alerts.webhook import WebhookTransport
from lab.ports import find_free_ports
from tests.alerts.receivers import HttpReceiver, MailReceiver
from zklake.errors import SettingsError
from zklake.settings.alert_notifiers import Command, Mail, Notifier, Webhook

HOSTILE = (
    "x\r\nBcc: all@example.com\r\n\r\n{{ 7 * 7 }}{% for a in b %}$(touch /tmp/pwned)`id`;"
    "\u2028\ud800\x00'\"<script>\u202eexe"
)
MAIL = {"smtp": "127.0.0.1:1", "sender": "zklake@example.com", "to": ["ops@example.com"]}


def make(
    notifier: Notifier, event: Event = "open", group: str = HOSTILE, severity: str = "warning"
) -> Delivery:
    return make_delivery(make_incident(group, severity), notifier, event, 0)


def make_incident(group: str = "billing", severity: str = "warning") -> Incident:
    at = datetime(2026, 11, 16, 3, 12, tzinfo=UTC)
    subject = IncidentSubject("group", ("zookeeper", group))
    evidence = {"status": "STOPPED", "affected": 1, "some": [f"{group}-0"]}
    return Incident(
        "1234", "shop", "group_status", severity, subject, at, at, None, None, 1, evidence
    )


def make_context(directory: Path) -> tuple[ssl.SSLContext, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate")
    key, cert = directory / "key.pem", directory / "cert.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert


def test_a_webhook_gets_json_a_key_and_the_headers() -> None:
    with HttpReceiver().serve() as receiver:
        settings = Webhook.model_validate(
            {"url": receiver.url, "headers": {"Authorization": "Bearer s3cret"}}
        )
        delivery = make(settings)
        WebhookTransport(settings).send(delivery)
    (post,) = receiver.posts
    assert post.key == delivery.id
    assert post.headers["Authorization"] == "Bearer s3cret"
    assert post.message["incident"]["subject"]["group_id"] == HOSTILE
    assert post.message["event"] == "open"
    assert "s3cret" not in repr(settings)


def test_a_template_gets_names_that_stay_on_their_line_and_are_no_code() -> None:
    with HttpReceiver().serve() as receiver:
        body = '{"text": {{ summary|tojson }}, "group": {{ incident.subject.group_id|tojson }}}'
        settings = Webhook.model_validate({"url": receiver.url, "body": body})
        WebhookTransport(settings).send(make(settings))
    said = json.loads(receiver.posts[0].body)
    assert "{{ 7 * 7 }}" in said["text"]
    assert said["group"].isprintable()


@pytest.mark.parametrize("status", [302, 400, 404, 500, 503])
def test_whatever_is_no_2xx_has_failed(status: int) -> None:
    with HttpReceiver(status=status).serve() as receiver:
        settings = Webhook.model_validate({"url": receiver.url})
        with pytest.raises(SendFailed, match=f"returned HTTP {status}"):
            WebhookTransport(settings).send(make(settings))
        assert len(receiver.posts) == 1


def test_a_webhook_that_is_away_or_slow_has_failed_and_no_secret_is_told() -> None:
    (port,) = find_free_ports(1)
    away = Webhook.model_validate({"url": f"http://127.0.0.1:{port}/s3cret"})
    with pytest.raises(SendFailed, match="cannot be reached") as raised:
        WebhookTransport(away).send(make(away))
    assert "s3cret" not in str(raised.value)
    with HttpReceiver(stalls=True).serve() as receiver:
        slow = Webhook.model_validate({"url": receiver.url, "timeout_s": 0.2})
        with pytest.raises(SendFailed, match=r"connection lost|cannot be reached"):
            WebhookTransport(slow).send(make(slow))
        receiver.released.set()


def test_https_is_checked(tmp_path: Path) -> None:
    context, cert = make_context(tmp_path)
    with HttpReceiver().serve(context) as receiver:
        url = receiver.url.replace("http:", "https:")
        good = Webhook.model_validate({"url": url, "ca_file": cert})
        WebhookTransport(good).send(make(good))
        stranger = Webhook.model_validate({"url": url})
        with pytest.raises(SendFailed, match="certificate"):
            WebhookTransport(stranger).send(make(stranger))
    assert len(receiver.posts) == 1


SCRIPT = """
import json, os, sys
said = json.load(sys.stdin)
json.dump([said, sys.argv[2:], sorted(os.environ)], open(sys.argv[1], "w"))
"""


def test_a_command_gets_json_on_its_standard_input_and_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZKLAKE_DASHBOARD__PASSWORD", "s3cret")
    out = tmp_path / "out.json"
    argv = [sys.executable, "-c", SCRIPT, str(out), "$(id)", "{{ summary }}"]
    settings = Command.model_validate({"argv": argv})
    CommandTransport(settings).send(make(settings))
    message, arguments, environment = json.loads(out.read_text())
    assert message["incident"]["subject"]["group_id"] == HOSTILE
    assert arguments == ["$(id)", "{{ summary }}"]
    assert not [name for name in environment if name.startswith("ZKLAKE_")]


def test_a_command_that_fails_is_missing_or_hangs_has_failed(tmp_path: Path) -> None:
    def send(*argv: str, timeout_s: float = 20) -> None:
        settings = Command.model_validate({"argv": argv, "timeout_s": timeout_s})
        CommandTransport(settings).send(make(settings))

    with pytest.raises(SendFailed, match="exited with 3: no luck"):
        send(sys.executable, "-c", "import sys; sys.stderr.write('no luck'); sys.exit(3)")
    with pytest.raises(SendFailed, match="cannot be started: No such file"):
        send(str(tmp_path / "nothing"))
    pid = tmp_path / "pid"
    began = time.monotonic()
    with pytest.raises(SendFailed, match="took longer than 1 s"):
        send("/bin/sh", "-c", f"sleep 600 & echo $! > {pid}; wait", timeout_s=1)
    assert time.monotonic() - began < 120
    assert _is_gone(int(pid.read_text()))


def test_a_command_that_leaves_something_running_has_not_failed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"cat > /dev/null; sleep 600 & echo $! > {pid}"
    settings = Command.model_validate({"argv": ["/bin/sh", "-c", script], "timeout_s": 120})
    began = time.monotonic()
    CommandTransport(settings).send(make(settings))
    assert time.monotonic() - began < 60
    os.kill(int(pid.read_text()), signal.SIGKILL)


def test_of_a_command_that_talks_the_end_is_kept() -> None:
    script = "import sys; sys.stderr.write('x' * 10_000_000 + 'no luck'); sys.exit(3)"
    settings = Command.model_validate({"argv": [sys.executable, "-c", script]})
    with pytest.raises(SendFailed, match=r"exited with 3: x+no luck$") as raised:
        CommandTransport(settings).send(make(settings))
    assert len(str(raised.value)) < 350


def _is_gone(pid: int) -> bool:
    """Also what the command had started; whoever reaps it may take a moment."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def test_a_mail_has_the_headers_it_should_and_no_others() -> None:
    with MailReceiver().serve() as receiver:
        given = {**MAIL, "smtp": f"127.0.0.1:{receiver.port}", "security": "none"}
        settings = Mail.model_validate(given)
        for event in ("open", "close"):
            MailTransport(settings).send(make(settings, event))
    opened, closed = receiver.letters
    assert receiver.recipients == [["ops@example.com"]] * 2
    assert opened["Bcc"] is None
    assert set(opened.keys()) == {
        *("Subject", "From", "To", "Date", "Message-ID", "References", "Auto-Submitted"),
        *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
    }
    assert opened["Subject"].startswith(
        "OPEN warning: group_status in shop: group x\\r\\nBcc: all@"
    )
    assert opened["References"] == closed["References"] == "<1234@shop.zklake>"
    assert opened["Message-ID"] != closed["Message-ID"]
    text = opened.get_content()
    assert "status     STOPPED" in text
    assert not [line for line in text.splitlines() if line.startswith("Bcc")]
    assert "{{ 7 * 7 }}" in text


def test_a_mail_goes_by_starttls_with_a_login(tmp_path: Path) -> None:
    context, cert = make_context(tmp_path)
    secret = tmp_path / "password"
    secret.write_text("s3cret\n")
    with MailReceiver(context).serve() as receiver:
        given = {**MAIL, "smtp": f"127.0.0.1:{receiver.port}", "ca_file": cert}
        settings = Mail.model_validate({**given, "user": "bob", "password": f"file:{secret}"})
        MailTransport(settings).send(make(settings))
        assert receiver.logins == ["\0bob\0s3cret"]
        stranger = Mail.model_validate({**given, "ca_file": None})
        with pytest.raises(SendFailed, match="cannot be reached"):
            MailTransport(stranger).send(make(stranger))
    assert len(receiver.letters) == 1


def test_a_mail_that_is_refused_has_failed() -> None:
    with MailReceiver(refuses=True).serve() as receiver:
        given = {**MAIL, "smtp": f"127.0.0.1:{receiver.port}", "security": "none"}
        settings = Mail.model_validate(given)
        with pytest.raises(SendFailed, match="refused every recipient"):
            MailTransport(settings).send(make(settings))
    assert not receiver.letters


def test_a_recipient_who_is_refused_does_not_cost_the_others_theirs() -> None:
    with MailReceiver(strangers=("gone@example.com",)).serve() as receiver:
        given = {**MAIL, "smtp": f"127.0.0.1:{receiver.port}", "security": "none"}
        settings = Mail.model_validate({**given, "to": ["gone@example.com", "ops@example.com"]})
        with capture_logs() as logs:
            MailTransport(settings).send(make(settings))
    assert receiver.recipients == [["ops@example.com"]]
    assert [one["recipients"] for one in logs] == [["gone@example.com"]]


@pytest.mark.parametrize("farewell", ["421 too busy", "250 whatever", ""])
def test_a_mail_that_was_taken_is_sent_whatever_is_said_then(farewell: str) -> None:
    with MailReceiver(farewell=farewell).serve() as receiver:
        given = {**MAIL, "smtp": f"127.0.0.1:{receiver.port}", "security": "none"}
        settings = Mail.model_validate(given)
        MailTransport(settings).send(make(settings))
    assert len(receiver.letters) == 1


def test_a_cluster_of_a_long_name_keeps_its_letters_together() -> None:
    settings = Mail.model_validate(MAIL)
    delivery = make_delivery(replace(make_incident(), cluster="c" * 100), settings, "open", 0)
    text = write_letter(delivery, settings).as_string()
    assert f"References: <1234@{'c' * 30}.zklake>" in text.splitlines()
    assert f"Message-ID: <{delivery.id}@{'c' * 30}.zklake>" in text.splitlines()


def test_a_file_of_cas_that_is_missing_is_refused_at_the_start() -> None:
    missing = {"ca_file": "/nowhere/ca.pem"}
    webhook = Webhook.model_validate({"url": "https://a.example/", **missing})
    for notifier in (webhook, Mail.model_validate({**MAIL, **missing})):
        with pytest.raises(SettingsError, match="ca_file cannot be read"):
            build_transport(notifier)


def test_a_subject_is_one_line_that_ends() -> None:
    settings = Mail.model_validate(MAIL)
    subject = write_subject(make(settings, group="x" * 5000), "a\n{{ summary }}" + "y" * 500)
    assert subject.startswith("a OPEN")
    assert len(subject) == 201


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ summary", "unexpected end of template"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("{{ summary.__class__.__mro__ }}", "unsafe"),
        ("{{ incident.duration_s|round }}", "cannot be filled"),
        ("{{ incident.ended_at[:10] }}", "not subscriptable|undefined"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused_at_the_start(template: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        build_transport(Webhook.model_validate({"url": "http://a.example/", "body": template}))


def test_notifiers_choose_by_rule_and_severity() -> None:
    url = {"url": "http://a.example/"}
    grave = Webhook.model_validate({**url, "name": "grave", "severity": "critical"})
    groups = Webhook.model_validate({**url, "name": "groups", "rules": ["group_*"]})
    brokers = Webhook.model_validate({**url, "name": "brokers", "rules": ["broker_*"]})
    everybody = (grave, groups, brokers)
    assert list_listeners(make_incident(), everybody) == [groups]
    assert list_listeners(make_incident(severity="critical"), everybody) == [grave, groups]


def test_waits_grow_and_are_bounded() -> None:
    assert [find_wait_s(n) for n in (1, 2, 3, 9, 10, 10_000)] == [1, 2, 4, 256, 300, 300]
