from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from zklake.cli.config import app
from zklake.cli.options import AsJson, Cluster, Config, Lake, Log, Watched, ZooKeeper, collect_flags
from zklake.errors import SettingsError

CANARY = "canary-7f3a"


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ZKLAKE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    Path("zklake.toml").write_text(
        f'[log]\nbootstrap = "[::1]:9092"\nclient.sasl.password = "{CANARY}"\n'
    )


def show(*arguments: str, **environ: str) -> str:
    result = CliRunner().invoke(app, ["show", *arguments], env=environ, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_table_shows_key_value_and_origin_and_masks_secrets() -> None:
    lines = [line.split() for line in show(ZKLAKE_CLUSTER="east").splitlines()]
    assert lines[0] == ["setting", "value", "origin"]
    assert ["cluster", "east", "ZKLAKE_CLUSTER"] in lines
    assert ["log.bootstrap", "[::1]:9092", "zklake.toml"] in lines
    assert ["log.client.sasl.password", "**********", "zklake.toml"] in lines
    assert ["zookeeper.digest", "(not", "set)", "default"] in lines


def test_a_long_value_stays_on_its_line_in_a_pipe() -> None:
    connect = ",".join(f"zookeeper-{number}.example:2181" for number in range(12))
    assert connect in show(ZKLAKE_ZOOKEEPER=connect)


def test_terminal_escapes_in_values_are_spelt_out() -> None:
    text = show(ZKLAKE_LAKE="a\x1b[31mb")
    assert "\x1b" not in text
    assert r"a\x1b[31mb" in text


@pytest.mark.parametrize("how", [("--json",), ()])
def test_json_has_the_same_rows(how: tuple[str, ...]) -> None:
    text = show(*how, **({} if how else {"ZKLAKE_JSON": "1"}))
    rows = {row["key"]: row for row in json.loads(text)}
    assert CANARY not in text
    assert rows["log.bootstrap"]["value"] == "[::1]:9092"
    assert rows["log.bootstrap"]["origin"] == "zklake.toml"
    assert rows["watcher.redact_paths"]["value"] == []
    assert rows["watcher.batch_events"]["value"] == 5000


def test_config_names_another_file_and_errors_come_out_as_ours() -> None:
    Path("other.toml").write_text('cluster = "other"')
    assert re.search(r"^cluster +other +other\.toml", show("--config", "other.toml"), re.MULTILINE)
    with pytest.raises(SettingsError, match=r"gone\.toml: cannot be read"):
        show("--config", "gone.toml")


def test_shared_options_become_flags() -> None:
    seen: list[dict[str, object]] = []
    command = typer.Typer()

    @command.command()
    def run(
        zookeeper: ZooKeeper = None,
        log: Log = None,
        watched: Watched = None,
        cluster: Cluster = None,
        lake: Lake = None,
        config: Config = None,
        as_json: AsJson = False,
    ) -> None:
        flags = collect_flags(
            zookeeper=zookeeper, log=log, watched=watched, cluster=cluster, lake=lake
        )
        seen.append({**flags, "config": config, "json": as_json})

    given = "--zookeeper a:1/x --log b:1 --watched c:1 --cluster d --config f --json"
    result = CliRunner().invoke(command, given, catch_exceptions=False)
    assert result.exit_code == 0
    assert seen == [
        {
            "zookeeper.connect": "a:1/x",
            "log.bootstrap": "b:1",
            "watched.bootstrap": "c:1",
            "cluster": "d",
            "config": Path("f"),
            "json": True,
        }
    ]


@pytest.mark.parametrize(
    "option",
    [
        *("sasl.pasword", "sasl.passwrod", "sasl.psasword", "ssl.key.passwd", "client.sceret"),
        *("sasl.oauthbearer.client.secrt", "acess.tokne", "my.cred", "api_key", "bind.pw"),
        *("basic.auth.user.info", "authorization"),
    ],
)
def test_a_name_that_looks_like_a_credential_is_masked(option: str) -> None:
    Path("zklake.toml").write_text(
        f'[log]\nbootstrap = "h:9092"\n[log.client]\n"{option}" = "{CANARY}"\n'
    )
    assert CANARY not in show()
    assert CANARY not in show("--json")


def test_a_value_that_looks_like_a_credential_is_masked_and_others_are_shown() -> None:
    Path("zklake.toml").write_text(
        '[log]\nbootstrap = "h:9092"\n[log.client]\n'
        f'"oauth.config" = "principal=u clientsecret={CANARY}"\n'
        '"sasl.username" = "somebody"\n"security.protocol" = "SASL_SSL"\n'
        '"ssl.ca.location" = "/ca.pem"\n"socket.keepalive.enable" = "true"\n'
        '"compression.type" = "zstd"\n"message.max.bytes" = "1000"\n'
    )
    text = show()
    assert CANARY not in text
    for shown in ("somebody", "SASL_SSL", "/ca.pem", "zstd", "1000"):
        assert shown in text


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["notify", "--token", CANARY, "-v"], ["notify", "--token", "**********", "-v"]),
        (["notify", f"--api-key={CANARY}"], ["notify", "--api-key=**********"]),
        (["notify", f"--pasword={CANARY}"], ["notify", "--pasword=**********"]),
        (["env", f"TOKEN={CANARY}", "x"], ["env", "TOKEN=**********", "x"]),
        (["curl", "-u", f"me:{CANARY}"], ["curl", "-u", "**********"]),
        (
            ["curl", "-H", f"Authorization: Bearer {CANARY}"],
            ["curl", "-H", "Authorization: **********"],
        ),
        (["curl", f"https://{CANARY}@h/"], ["curl", "**********"]),
        (
            ["curl", f"https://chat.example/hooks/{CANARY}"],
            ["curl", "https://chat.example/**********"],
        ),
        (["curl", f"--url=https://c/{CANARY}"], ["curl", "--url=https://c/**********"]),
        (["send", CANARY + "0123456789abcdef"], ["send", "**********"]),
        (["sh", "-c", f"curl -d password={CANARY} h"], ["sh", "-c", "**********"]),
        (["/usr/bin/logger", "-t", "zklake"], ["/usr/bin/logger", "-t", "zklake"]),
        (
            ["mail", "-s", "lag: orders", "a@example.com"],
            ["mail", "-s", "lag: orders", "a@example.com"],
        ),
    ],
)
def test_a_notifiers_command_is_shown_without_its_secrets(
    argv: list[str], shown: list[str]
) -> None:
    Path("zklake.toml").write_text(
        f'[[alerts.notifiers]]\nby = "command"\nargv = {json.dumps(argv)}\n'
    )
    assert CANARY not in show()
    rows = {row["key"]: row["value"] for row in json.loads(show("--json"))}
    assert rows["alerts.notifiers"][0]["argv"] == shown
