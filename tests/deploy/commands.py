"""Every command that a deployment runs, with the environment it runs in; read, not started."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from pathlib import Path
from typing import Any, NamedTuple

import typer
import yaml

from tests.deploy.exported import DEPLOY
from zklake.cli.main import app

UNITS = DEPLOY / "systemd"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())
# What a person exports before `docker compose up`, as deploying.md shows it.
GIVEN = {
    "ZKLAKE_ZOOKEEPER": "zk1:2181,zk2:2181/kafka",
    "ZKLAKE_LOG": "logkafka:9092",
    "ZKLAKE_CLUSTER": "prod",
    "DASHBOARD_TOKEN_FILE": "./dashboard_token",
}

_ROOT: Any = typer.main.get_command(app)


class Part(NamedTuple):
    """One process of a deployment."""

    where: str
    argv: list[str]
    environ: Mapping[str, str]


def list_parts() -> list[Part]:
    """All of them."""
    return [*_list_services(), *_list_containers(), *_list_units()]


def parse(argv: list[str]) -> str:
    """The command that these words call, parsed as the command line would, and not run."""
    command = _ROOT
    context = command.make_context("zklake", list(argv))
    names = []
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, rest)
        names.append(name)
        context = command.make_context(name, words, parent=context)
    return " ".join(names)


def fill(text: str) -> str:
    """What compose makes of ${NAME:?what it is}."""
    return re.sub(r"\$\{(\w+):\?[^}]*\}", lambda match: GIVEN[match[1]], text)


def read_manifests() -> list[dict[str, Any]]:
    """Every object of the Kubernetes manifests."""
    return [one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text())]


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of systemd's EnvironmentFile; lines that are commented out as well."""
    return dict(re.findall(r"^#?(ZKLAKE_\w+)=(.*)$", path.read_text(), re.MULTILINE))


def _list_services() -> Iterator[Part]:
    for name, service in COMPOSE["services"].items():
        environ = {key: fill(value) for key, value in service["environment"].items()}
        yield Part(f"compose {name}", service["command"], environ)


def _list_containers() -> Iterator[Part]:
    objects = read_manifests()
    data = {one["metadata"]["name"]: one["data"] for one in objects if one["kind"] == "ConfigMap"}
    for one in objects:
        if one["kind"] == "Deployment":
            for container in one["spec"]["template"]["spec"]["containers"]:
                (source,) = container["envFrom"]
                environ = data[source["configMapRef"]["name"]]
                yield Part(f"kubernetes {container['name']}", container["args"], environ)


def _list_units() -> Iterator[Part]:
    environ = read_env_file(UNITS / "zklake.env")
    for path in sorted(UNITS.glob("*.service")):
        unit = ConfigParser(interpolation=None)
        unit.read(path)
        program, *argv = shlex.split(unit["Service"]["ExecStart"])
        assert program == "/opt/zklake/bin/zklake"
        yield Part(f"systemd {path.stem}", argv, environ)
