"""Every command, option, variable and setting that a deployment names exists."""

from __future__ import annotations

import re
import shlex
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.commands import COMPOSE, GIVEN, Part, list_parts, parse, read_manifests
from tests.deploy.exported import DEPLOY
from tests.test_docs import find_code
from zklake import __version__
from zklake.errors import SettingsError
from zklake.settings.fields import groups, setting_fields
from zklake.settings.load import load_settings
from zklake.settings.names import OTHER_VARIABLES, SHORT_FORMS, env_name

PARTS = list_parts()
DOCS = [DEPLOY.parent / "docs" / name for name in ("deploying.md", "runbooks.md")]
FILES = sorted(
    path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
)
README_COMMANDS = {"watch", "stream", "dashboard", "alerts run", "audit"}
IMAGE = f"zklake:{__version__}"


def find_variables(text: str) -> set[str]:
    return set(re.findall(r"\bZKLAKE_[A-Z0-9_]+", text))


def place_files(environ: dict[str, str], directory: Path) -> dict[str, str]:
    """The environment, with files of this machine where a deployment mounts its own."""
    secret = directory / "secret"
    secret.write_text("0123456789abcdef\n")
    placed = {name: re.sub(r"file:/\S+", f"file:{secret}", text) for name, text in environ.items()}
    return {**placed, "ZKLAKE_CONFIG": str(DEPLOY / "zklake.toml")}


@pytest.mark.parametrize("kind", ["compose", "kubernetes", "systemd"])
def test_each_deployment_runs_the_commands_of_the_readme(kind: str) -> None:
    run = [parse(part.argv) for part in PARTS if part.where.startswith(kind)]
    assert sorted(run) == sorted(README_COMMANDS)


def test_a_wrong_command_or_option_is_found_out() -> None:
    assert parse(["jars", "fetch", "spark"]) == "jars fetch"
    for argv in (["wach"], ["watch", "--zoo", "zk1:2181"], ["jars", "fetched"]):
        with pytest.raises(Exception, match="No such"):
            parse(argv)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.where)
def test_the_settings_of_a_part_are_accepted(part: Part, tmp_path: Path) -> None:
    settings = load_settings(environ=place_files(dict(part.environ), tmp_path))
    assert settings.cluster == "prod"
    if "watch" in part.argv:
        assert settings.zookeeper.connect == GIVEN["ZKLAKE_ZOOKEEPER"]


def list_mounts() -> Iterator[tuple[str, dict[str, str], list[str]]]:
    """Every container: its name, its variables, and where something is mounted in it."""
    environs = {part.where: dict(part.environ) for part in PARTS}
    for name, service in COMPOSE["services"].items():
        places = [volume.split(":")[1] for volume in service["volumes"]]
        places += [f"/run/secrets/{secret}" for secret in service.get("secrets", ())]
        yield name, environs[f"compose {name}"], places
    for one in read_manifests():
        if one["kind"] == "Deployment":
            for container in one["spec"]["template"]["spec"]["containers"]:
                places = [mount["mountPath"] for mount in container["volumeMounts"]]
                yield container["name"], environs[f"kubernetes {container['name']}"], places


def test_every_file_that_a_part_reads_is_mounted_in_it() -> None:
    """Settings are read as a whole: a secret of the dashboard that is missing stops the stream."""
    seen = 0
    for name, environ, places in list_mounts():
        for variable, text in environ.items():
            is_file = variable == "ZKLAKE_CONFIG" or text.startswith("file:")
            path = text.removeprefix("file:")
            assert not is_file or any(f"{path}/".startswith(f"{one}/") for one in places), name
            seen += is_file
    assert seen


def test_the_files_of_settings_are_accepted(tmp_path: Path) -> None:
    maps = [one for one in read_manifests() if one["kind"] == "ConfigMap"]
    (text,) = [one["data"]["zklake.toml"] for one in maps if "zklake.toml" in one["data"]]
    (tmp_path / "zklake.toml").write_text(text)
    for path in (tmp_path / "zklake.toml", DEPLOY / "zklake.toml"):
        (notifier,) = load_settings(path, environ={}).alerts.list_notifiers()
        assert notifier.title == "webhook"


def test_a_wrong_variable_is_found_out(tmp_path: Path) -> None:
    environ = place_files({"ZKLAKE_WATCHER__HTP": "0.0.0.0:1"}, tmp_path)
    with pytest.raises(SettingsError, match="ZKLAKE_WATCHER__HTP: no such setting"):
        load_settings(environ=environ)


@pytest.mark.parametrize("path", [*FILES, *DOCS], ids=lambda path: path.name)
def test_every_variable_named_exists(path: Path) -> None:
    known = {env_name(key) for key in (*setting_fields(), *SHORT_FORMS)} | set(OTHER_VARIABLES)
    assert find_variables(path.read_text()) <= known


@pytest.mark.parametrize("path", [*FILES, *DOCS], ids=lambda path: path.name)
def test_every_setting_named_exists(path: Path) -> None:
    names = "|".join(groups())
    named = set(re.findall(rf"\b(?<![\w/.-])(?:{names})\.[a-z_]+\b(?![\w(.\-/])", path.read_text()))
    files = {name for name in named if name.endswith((".yaml", ".json", ".sh", ".md", ".toml"))}
    assert named - files <= setting_fields().keys()


def find_invocations(line: str) -> Iterator[list[str]]:
    """What follows the word zklake in a line of shell, up to the end of that command."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    argv: list[str] | None = None
    for word in [*words, ";"]:
        if re.fullmatch(r"[();<>|&]+", word):
            # `-g zklake -m 0640` is a group, no command.
            if argv and not argv[0].startswith("-"):
                yield argv
            argv = None
        elif argv is not None:
            argv.append(word)
        elif re.fullmatch(r"(.*/bin/)?zklake", word):
            argv = []


def read_shell(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix == ".md":
        return find_code(text)
    lines = text.replace("\\\n", " ").splitlines()
    return [re.sub(r"\$\((.*)\)", r"; \1", line) for line in lines if not line.startswith("#")]


SHELL = [DEPLOY / "docker" / "Dockerfile", *DOCS]


@pytest.mark.parametrize("path", SHELL, ids=lambda path: path.name)
def test_every_command_shown_can_be_parsed(path: Path) -> None:
    shown = [argv for line in read_shell(path) for argv in find_invocations(line)]
    assert shown
    for argv in shown:
        assert parse(argv)


TOKEN_RECIPES = [DOCS[0], DEPLOY / "docker" / "compose.yaml", DEPLOY / "systemd" / "zklake.env"]


@pytest.mark.parametrize("path", TOKEN_RECIPES, ids=lambda path: path.name)
def test_a_token_file_that_is_made_as_shown_is_for_nobody_else(path: Path, tmp_path: Path) -> None:
    text = re.sub(r"/etc/zklake/", "", path.read_text())
    # But for the group, which is not of this machine.
    text = re.sub(r"(sudo )?chgrp \w+ dashboard_token && ", "", text)
    shown = re.findall(r"^(?:#\s+)?(\S.*\bdashboard_token\b.*)$", text, re.MULTILINE)
    lines = [line for line in shown if "> dashboard_token" in line or "chmod" in line]
    assert len(lines) == 2
    made = tmp_path / "dashboard_token"
    for line in lines:
        # The umask that most machines have.
        subprocess.run(["bash", "-euc", f"umask 022\n{line}"], cwd=tmp_path, check=True)
        assert not stat.S_IMODE(made.stat().st_mode) & 0o007, "not even for a moment"
    assert stat.S_IMODE(made.stat().st_mode) == 0o640
    environ = {"ZKLAKE_DASHBOARD__TOKEN": f"file:{made}"}
    assert load_settings(environ=environ).dashboard.token is not None


def test_templates_of_json_that_are_shown_leave_nothing_unquoted() -> None:
    shown = [
        line
        for document in sorted((DEPLOY.parent / "docs").glob("*.md"))
        for line in find_code(document.read_text())
        if re.match(r"body\s*=\s*['\"]+\{", line)
    ]
    assert shown
    for line in shown:
        filled = re.findall(r"\{\{(.*?)\}\}", line)
        assert filled
        assert all(re.search(r"\|\s*tojson\s*$", one) for one in filled), line


def test_the_image_is_of_this_version() -> None:
    images = {service["image"] for service in COMPOSE["services"].values()}
    for one in read_manifests():
        if one["kind"] == "Deployment":
            images |= {part["image"] for part in one["spec"]["template"]["spec"]["containers"]}
    assert images == {IMAGE}
    for path in (DEPLOY / "docker" / "Dockerfile", DOCS[0]):
        assert set(re.findall(r"--tag (\S+)", path.read_text())) == {IMAGE}
