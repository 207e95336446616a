from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pydantic import SecretStr

from zklake.errors import SettingsError
from zklake.settings.docs import write_docs
from zklake.settings.fields import setting_fields
from zklake.settings.load import load_settings, load_with_origins
from zklake.settings.names import OTHER_VARIABLES
from zklake.settings.show import show_settings

ROOT = Path(__file__).parents[2]
CANARY = "canary-7f3a"


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_toml(text: str, name: str = "some.toml") -> Path:
    path = Path.cwd() / name
    path.write_text(text)
    return path


def refusal(
    toml: str = "", environ: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(write_toml(toml), flags, environ or {})
    assert caught.value.__context__ is None, "a chained ValidationError would show the inputs"
    return str(caught.value)


def test_defaults_are_those_of_the_design() -> None:
    settings = load_settings(environ={})
    assert settings.cluster == "kafka"
    assert settings.zookeeper.connect == "127.0.0.1:2181"
    assert settings.log.bootstrap == "127.0.0.1:9092"
    assert settings.watched.bootstrap is None
    assert settings.watcher.buffer_bytes == 64 * 1024 * 1024
    assert settings.lake.path == "./lake"


def test_flags_beat_environment_beats_file_beats_default() -> None:
    path = write_toml('cluster = "toml"\n[log]\nbootstrap = "toml:1"\n[lake]\npath = "toml"\n')
    environ = {"ZKLAKE_CLUSTER": "env", "ZKLAKE_LOG": "env:1"}
    loaded = load_with_origins(path, {"cluster": "flag", "watched.bootstrap": None}, environ)
    assert loaded.settings.cluster == "flag"
    assert loaded.settings.log.bootstrap == "env:1"
    assert loaded.settings.lake.path == "toml"
    assert loaded.origins == {
        "cluster": "--cluster",
        "log.bootstrap": "ZKLAKE_LOG",
        "lake.path": str(path),
    }


def test_the_environment_names_every_plain_setting() -> None:
    settings = load_settings(
        environ={
            "ZKLAKE_ZOOKEEPER": "a:1,[::1]:2/kafka/main",
            "ZKLAKE_WATCHED": "b:9092",
            "ZKLAKE_LAKE": "/data",
            "ZKLAKE_ZOOKEEPER__SESSION_TIMEOUT_MS": "6000",
            "ZKLAKE_ZOOKEEPER__FORCE_ONE_SHOT": "true",
            "ZKLAKE_WATCHER__REDACT_PATHS": "/a/*, /b",
            "ZKLAKE_WATCHER__PUBLISH_PATHS": '["/c,d"]',
            "ZKLAKE_STREAM__CHECKPOINT": "",
            "LOG": "not ours",
            "CLUSTER": "not ours",
        }
    )
    assert settings.cluster == "kafka"
    assert settings.zookeeper.connect == "a:1,[::1]:2/kafka/main"
    assert settings.watched.bootstrap == "b:9092"
    assert settings.lake.path == "/data"
    assert settings.zookeeper.session_timeout_ms == 6000
    assert settings.zookeeper.force_one_shot
    assert settings.watcher.redact_paths == ("/a/*", "/b")
    assert settings.watcher.publish_paths == ("/c,d",)
    assert settings.stream.checkpoint is None


def test_the_file_is_found_by_name_variable_and_flag() -> None:
    assert load_settings(environ={}).cluster == "kafka"
    write_toml('cluster = "here"', "zklake.toml")
    named = write_toml('cluster = "named"', "named.toml")
    given = write_toml('cluster = "given"', "given.toml")
    assert load_settings(environ={}).cluster == "here"
    assert load_settings(environ={"ZKLAKE_CONFIG": str(named)}).cluster == "named"
    assert load_settings(given, environ={"ZKLAKE_CONFIG": str(named)}).cluster == "given"


def test_a_file_that_is_missing_or_no_toml_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"gone\.toml: cannot be read: No such file"):
        load_settings(Path("gone.toml"), environ={})
    assert "is not valid TOML" in refusal("cluster = ")
    Path("latin.toml").write_bytes(b'cluster = "\xff"')
    with pytest.raises(SettingsError, match="is not valid TOML"):
        load_settings(Path("latin.toml"), environ={})


def test_client_options_merge_one_by_one_and_librdkafka_takes_them() -> None:
    path = write_toml(
        '[log.client]\nsecurity.protocol = "SASL_SSL"\n"sasl.mechanism" = "PLAIN"\n'
        '"sasl.username" = "toml"\n"socket.timeout.ms" = 5000\n"log.connection.close" = false\n'
    )
    environ = {
        "ZKLAKE_LOG__CLIENT__SASL_USERNAME": "env",
        "ZKLAKE_LOG__CLIENT": json.dumps({"sasl.password": CANARY}),
    }
    loaded = load_with_origins(path, {"log.client.client.id": "flag"}, environ)
    assert loaded.settings.log.client == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "env",
        "sasl.password": CANARY,
        "socket.timeout.ms": "5000",
        "log.connection.close": "false",
        "client.id": "flag",
    }
    assert loaded.origins["log.client.sasl.username"] == "ZKLAKE_LOG__CLIENT__SASL_USERNAME"
    # It raises on an option it does not know; without bootstrap.servers it connects nowhere.
    Producer(loaded.settings.log.client)


@pytest.mark.parametrize("name", ["transactional.id", "enable.idempotence", "acks"])
def test_reserved_client_options_are_refused(name: str) -> None:
    assert f"log.client.{name} = 'x': {name} is reserved" in refusal(f'[log.client]\n{name} = "x"')


def test_all_errors_are_listed_at_once_with_origin_key_value_and_what_is_allowed() -> None:
    text = refusal(
        'clster = "x"\nlake = "x"\n[zookeeper]\nsesion_timeout_ms = 1\nsession_timeout_ms = 1\n'
        'sasl_mechanism = "PLAIN"\n[watcher]\nredact_paths = ["/a", "b"]\n',
        {"ZKLAKE_LOG": "nope", "ZKLAKE_STREM__HTTP": "a:1", "ZKLAKE_WATCHED__CLIENT": "{"},
        {"cluster": "..", "zookeeper.conect": "a:1"},
    )
    file = str(Path.cwd() / "some.toml")
    assert text.splitlines()[0] == "11 settings are wrong:"
    for line in (
        f"{file}: clster: no such setting; did you mean cluster?",
        f"{file}: lake: is a group of settings, a table; did you mean lake.path?",
        f"{file}: zookeeper.sesion_timeout_ms: no such setting;"
        " did you mean zookeeper.session_timeout_ms?",
        f"{file}: zookeeper.session_timeout_ms = 1: Input should be greater than or equal to 100",
        f"{file}: zookeeper.sasl_mechanism = 'PLAIN': Input should be 'DIGEST-MD5' or 'GSSAPI'",
        f"{file}: watcher.redact_paths = ['/a', 'b']: expected znode path patterns,"
        " each starting with /",
        "ZKLAKE_LOG: log.bootstrap = 'nope': expected HOST:PORT[,HOST:PORT…]",
        "ZKLAKE_STREM__HTTP: no such setting; did you mean ZKLAKE_STREAM__HTTP?",
        "ZKLAKE_WATCHED__CLIENT: watched.client: is not valid JSON",
        "--cluster: cluster = '..': expected 1 to 100 of the characters"
        " A-Z a-z 0-9 . _ - (not only dots)",
        "command line: zookeeper.conect: no such setting; did you mean zookeeper.connect?",
    ):
        assert f"  {line}" in text.splitlines()


def test_short_and_long_form_together_are_refused() -> None:
    text = refusal(environ={"ZKLAKE_LOG": "a:1", "ZKLAKE_LOG__BOOTSTRAP": "b:1"})
    assert "ZKLAKE_LOG: ZKLAKE_LOG__BOOTSTRAP is set too; unset one of them" in text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("zookeeper.connect", "host"),
        ("zookeeper.connect", "host:2181,"),
        ("zookeeper.connect", "host:70000"),
        ("zookeeper.connect", "host:2181/a//b"),
        ("zookeeper.connect", "host:2181/a/../b"),
        ("log.bootstrap", "host:0"),
        ("log.bootstrap", "SSL://host:1"),
        ("watcher.http", "9464"),
        ("cluster", "a/b"),
        ("cluster", ""),
        ("cluster", "a b"),
        ("stream.driver_memory", "2"),
        ("log.replication_factor", 0),
        ("lake.path", ""),
        ("log.client", "x"),
    ],
)
def test_bad_values_are_refused(key: str, value: object) -> None:
    assert key in refusal(flags={key: value})


def test_a_chroot_of_nothing_is_no_chroot_and_port_0_listens_anywhere() -> None:
    flags = {"zookeeper.connect": "host:2181/", "watcher.http": "127.0.0.1:0"}
    settings = load_settings(flags=flags, environ={})
    assert settings.zookeeper.connect == "host:2181"
    assert settings.watcher.http == "127.0.0.1:0"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('ca_file = "ca.pem"', "ca_file without tls = true"),
        ("tls = true\nverify_certs = false", "needs check_hostname = false"),
        ('sasl_mechanism = "DIGEST-MD5"', "needs sasl_username and sasl_password"),
    ],
)
def test_zookeeper_settings_must_hang_together(table: str, said: str) -> None:
    text = refusal(f"[zookeeper]\n{table}")
    assert "some.toml: zookeeper: " in text
    assert said in text


def test_secrets_show_nowhere() -> None:
    path = write_toml(
        f'[zookeeper]\ndigest = "user:{CANARY}"\nsasl_password = "{CANARY}"\n'
        f'[log.client]\nsasl.password = "{CANARY}"\nssl.key.pem = "{CANARY}"\n'
        f'sasl.jaas.config = "{CANARY}"\nssl.key.location = "/etc/key.pem"\n'
    )
    loaded = load_with_origins(path, environ={})
    rows = show_settings(loaded)
    settings = loaded.settings
    for text in (repr(loaded), str(settings), settings.model_dump_json(), repr(rows)):
        assert CANARY not in text
    assert CANARY not in repr(settings.model_dump())
    shown = {row.key: row.value for row in rows}
    assert shown["zookeeper.digest"] == shown["log.client.sasl.password"] == "**********"
    assert shown["log.client.ssl.key.location"] == "/etc/key.pem"
    assert settings.zookeeper.digest == SecretStr(f"user:{CANARY}")
    assert settings.log.client["sasl.password"] == CANARY


def test_errors_do_not_show_secrets_not_even_under_a_misspelt_name() -> None:
    text = refusal(
        f'[zookeeper]\ndigest = "{CANARY}"\nkey_password = ["{CANARY}"]\nzk_pw = "{CANARY}"\n'
        f'[log.client]\nsasl.password = ["{CANARY}"]\n',
        {"ZKLAKE_ZOOKEEPER__SASL_PASWORD": CANARY, "ZKLAKE_WATCHED__CLIENT": f'{{"{CANARY}'},
    )
    assert "zookeeper.digest = **********: expected user:password" in text
    assert "6 settings are wrong" in text
    assert CANARY not in text


def test_secrets_may_stand_in_files() -> None:
    Path("digest").write_text("user:from file\n")
    Path("password").write_text(CANARY)
    toml = '[zookeeper]\ndigest = "file:digest"\n[log.client]\nsasl.password = "file:password"\n'
    settings = load_settings(write_toml(toml), environ={})
    assert settings.zookeeper.digest == SecretStr("user:from file")
    assert settings.log.client["sasl.password"] == CANARY
    text = refusal(flags={"zookeeper.sasl_password": "file:/gone"})
    assert "zookeeper.sasl_password = 'file:/gone': cannot read the file" in text


def test_building_settings_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    flags = {"zookeeper.connect": "zk.example:2181", "log.bootstrap": "kafka.example:9092"}
    assert load_settings(flags=flags, environ={}).zookeeper.connect == "zk.example:2181"


def test_every_setting_is_described_and_docs_are_up_to_date() -> None:
    assert all(field.info.description for field in setting_fields().values())
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == write_docs(), "run: python -m zklake.settings.docs > docs/settings.md"


def test_every_variable_that_any_package_reads_is_known() -> None:
    packages = ("zklake", "watcher", "streaming", "delta_tables", "dashboard", "alerts", "lab")
    read = {
        name
        for package in packages
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r"environ(?:\.get\(|\[)\"(ZKLAKE_\w+)", path.read_text("utf-8"))
    }
    assert "ZKLAKE_CONFIG" in read
    assert read <= set(OTHER_VARIABLES), "unknown to load_settings, which would refuse to start"
    load_settings(environ={name: "x" for name in OTHER_VARIABLES if name != "ZKLAKE_CONFIG"})


def test_names_and_options_import_no_pydantic() -> None:
    code = "import sys, zklake.cli.config; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
