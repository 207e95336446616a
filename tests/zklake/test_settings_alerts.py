"""Rules and notifiers in the settings: lists of tables, with secrets that nobody is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from zklake.errors import SettingsError
from zklake.settings.alert_notifiers import Command, Mail, Notifier, Webhook
from zklake.settings.alert_rules import RULES, Rule
from zklake.settings.load import load_settings, load_with_origins
from zklake.settings.show import show_settings, write_value

GOOD = """
[[alerts.rules]]
rule = "group_status"
level = "STOPPED"
[[alerts.notifiers]]
by = "webhook"
url = "file:{url}"
headers = {{ Authorization = "Bearer s3cret" }}
"""


def load(tmp_path: Path, text: str) -> str:
    """What is wrong with it."""
    path = tmp_path / "zklake.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as raised:
        load_settings(path, environ={})
    assert "s3cret" not in str(raised.value)
    return str(raised.value)


def test_secrets_are_read_from_files_and_never_shown(tmp_path: Path) -> None:
    url = tmp_path / "url"
    url.write_text("https://a.example/s3cret\n")
    path = tmp_path / "zklake.toml"
    path.write_text(GOOD.format(url=url))
    loaded = load_with_origins(path, environ={})
    (notifier,) = loaded.settings.alerts.list_notifiers()
    assert isinstance(notifier, Webhook)
    assert notifier.url.get_secret_value() == "https://a.example/s3cret"
    assert loaded.settings.alerts.list_rules()[0].title == "group_status"
    shown = {row.key: row for row in show_settings(loaded)}
    assert shown["alerts.rules"].origin == str(path)
    text = write_value(shown["alerts.notifiers"].value)
    assert '"by": "webhook"' in text
    assert "s3cret" not in text + json.dumps(shown["alerts.notifiers"]._asdict())
    assert "s3cret" not in repr(loaded.settings)


def test_the_environment_gives_them_as_json() -> None:
    environ = {"ZKLAKE_ALERTS__RULES": '[{"rule": "broker_down", "for_s": 5}]'}
    (rule,) = load_settings(environ=environ).alerts.list_rules()
    assert (rule.kind, rule.for_s) == ("broker_down", 5)
    with pytest.raises(SettingsError, match=r"alerts.rules: is not valid JSON"):
        load_settings(environ={"ZKLAKE_ALERTS__RULES": "broker_down"})


def test_without_rules_there_is_one_of_each() -> None:
    rules = load_settings(environ={}).alerts.list_rules()
    assert [rule.title for rule in rules] == [
        "group_status",
        "offline_partition",
        "controller_flap",
        "rebalance_storm",
        "broker_down",
        "pipeline_stale",
        "group_lag",
        "time_lag",
        "under_replicated",
        "broker_flap",
    ]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('by = "webhook"\nurl = "ftp://s3cret"', "notifiers.0.webhook.url: expected http"),
        ('by = "webhook"\nurl = "https://bob:s3cret@a.example/"', "goes into headers"),
        ('by = "webhook"\nurl = "file:/nothing"', "url: cannot read the file"),
        ('by = "webhook"\nurl = "http://a/"\nheaders = {A = "s3cret\\r\\nB: c"}', "one line"),
        ('by = "webhook"\nurl = "http://a/"\nheaders = {"A:" = "s3cret"}', "name of a header"),
        ('by = "webhook"\nurl = "http://a/"\nheaders = {Host = "s3cret"}', "name of a header"),
        ('by = "command"\nargv = []', "at least 1 item"),
        ('by = "command"\nargv = ["a\\u0000b"]', "NUL"),
        ('by = "command"\nargv = ["a"]\nsend_interval_s = inf', "less than or equal to"),
        (
            'by = "mail"\nsmtp = "a:25"\nsender = "a@b"\nto = ["a@b\\nBcc: c@d"]',
            "expected name@host",
        ),
        ('by = "mail"\nsmtp = "a:25"\nsender = "a@b"\nto = ["a@b"]\nuser = "u"', "go together"),
        (
            'by = "mail"\nsmtp = "a:25"\nsender = "a@b"\nto = ["a@b"]\nuser = "ü"\n'
            'password = "s3cret"',
            "expected one line of ASCII",
        ),
        (
            'by = "mail"\nsmtp = "a:25"\nsender = "a@b"\nto = ["a@b"]\nuser = "u"\n'
            'password = "s3cret"\nsecurity = "none"',
            "needs security",
        ),
        ('by = "pigeon"', "'webhook', 'command', 'mail'"),
    ],
)
def test_what_is_wrong_with_a_notifier_is_said_without_its_secrets(
    tmp_path: Path, table: str, says: str
) -> None:
    assert says in load(tmp_path, f"[[alerts.notifiers]]\n{table}\n")


def test_what_is_wrong_with_a_rule_is_said(tmp_path: Path) -> None:
    text = '[[alerts.rules]]\nrule = "group_status"\nlevl = "WARN"\n'
    assert "alerts.rules.0.group_status.levl: Extra inputs" in load(tmp_path, text)
    for value in ("inf", "nan", "1e300"):
        text = f'[[alerts.rules]]\nrule = "group_status"\nfor_s = {value}\n'
        assert "for_s: Input should be less than or equal to" in load(tmp_path, text)
        assert "alerts.give_up_s" in load(tmp_path, f"[alerts]\ngive_up_s = {value}\n")
    twice = '[[alerts.rules]]\nrule = "broker_down"\n' * 2
    assert "broker_down is there twice; give each a name" in load(tmp_path, twice)


def test_the_document_has_every_field_with_its_default_and_its_text() -> None:
    page = (Path(__file__).parents[2] / "docs" / "alerts.md").read_text()
    models: list[type[BaseModel]] = [Rule, Notifier, *RULES, Webhook, Command, Mail]
    for model in models:
        for name, field in model.model_fields.items():
            default = field.get_default(call_default_factory=True)
            said = "must be given" if field.is_required() else f"`{json.dumps(default)}`"
            row = f"| `{name}` | {'' if default is None else said} | {field.description} |"
            assert name in ("rule", "by") or row in page
