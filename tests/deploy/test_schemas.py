"""Validators of others accept the files, and a few rules of our own hold that no schema knows."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.commands import COMPOSE, MANIFESTS, read_manifests
from tests.deploy.exported import DEPLOY

BIN = Path(sys.executable).parent
MANIFEST_OBJECTS = read_manifests()
DEPLOYMENTS = {
    one["metadata"]["name"]: one for one in MANIFEST_OBJECTS if one["kind"] == "Deployment"
}
PODS = {name: one["spec"]["template"]["spec"] for name, one in DEPLOYMENTS.items()}


def run(program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / program), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_compose_is_what_its_specification_wants(tmp_path: Path) -> None:
    wanted = ("--builtin-schema", "vendor.compose-spec")
    good = run("check-jsonschema", *wanted, DEPLOY / "docker" / "compose.yaml")
    assert good.returncode == 0, good.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(yaml.safe_dump({**COMPOSE, "services": {"watcher": {"comand": ["watch"]}}}))
    assert "comand" in run("check-jsonschema", *wanted, wrong).stdout


def test_manifests_are_what_kubernetes_wants(tmp_path: Path) -> None:
    good = run("kubernetes-validate", "--strict", *MANIFESTS)
    assert good.returncode == 0, good.stdout + good.stderr
    assert good.stdout.count(" passed for resource ") == len(MANIFEST_OBJECTS)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(MANIFESTS[0].read_text().replace("replicas: 1", "replicsa: 1"))
    assert "replicsa" in run("kubernetes-validate", "--strict", wrong).stdout


def test_the_dockerfile_is_clean() -> None:
    found = run("hadolint", DEPLOY / "docker" / "Dockerfile")
    assert found.returncode == 0, found.stdout


def test_the_image_runs_as_somebody_and_holds_no_secret() -> None:
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert text.rindex("USER 10001:10001") > text.rindex("FROM ")
    # A default, or another argument, could hold one.
    assert re.findall(r"^ARG.*", text, re.MULTILINE) == ["ARG PYTHON_DIGEST"]
    assert "PASSWORD" not in text
    assert "TOKEN" not in text


def test_the_image_gets_all_that_the_wheel_is_made_of() -> None:
    text = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text()
    sent = {line.removeprefix("!") for line in text.splitlines() if line.startswith("!")}
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = {*wheel["packages"], *wheel["force-include"], *project["project"]["license-files"]}
    assert sent == wanted | {"pyproject.toml", "requirements.lock", project["project"]["readme"]}


def test_nothing_names_a_namespace() -> None:
    assert not [one for one in MANIFEST_OBJECTS if "namespace" in one["metadata"]]


def test_no_secret_is_in_a_manifest() -> None:
    assert not [one for one in MANIFEST_OBJECTS if one["kind"] == "Secret"]


def test_a_standby_waits_and_one_stream_writes() -> None:
    assert DEPLOYMENTS["zklake-watcher"]["spec"]["replicas"] == 2
    lake = DEPLOYMENTS["zklake-lake"]["spec"]
    assert (lake["replicas"], lake["strategy"]["type"]) == (1, "Recreate")


@pytest.mark.parametrize("name", PODS)
def test_pods_get_no_variables_of_services(name: str) -> None:
    # ZKLAKE_LAKE_PORT and the like would be unknown settings, and end every part.
    assert PODS[name]["enableServiceLinks"] is False


@pytest.mark.parametrize("name", PODS)
def test_pods_are_confined(name: str) -> None:
    pod = PODS[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"]:
        confined = container["securityContext"]
        assert confined["allowPrivilegeEscalation"] is False
        assert confined["readOnlyRootFilesystem"] is True
        assert confined["capabilities"] == {"drop": ["ALL"]}
        assert {"requests", "limits"} <= container["resources"].keys()


@pytest.mark.parametrize("name", PODS)
def test_probes_ask_ports_that_are_open(name: str) -> None:
    for container in PODS[name]["containers"]:
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for probe in ("livenessProbe", "readinessProbe"):
            asked = container[probe]["httpGet"]
            assert asked["port"] in ports
            assert asked["path"] in ("/healthz", "/readyz")


@pytest.mark.parametrize("name", PODS)
def test_what_is_mounted_is_there(name: str) -> None:
    volumes = {volume["name"] for volume in PODS[name]["volumes"]}
    mounted = {one["name"] for part in PODS[name]["containers"] for one in part["volumeMounts"]}
    assert mounted == volumes


def test_services_lead_to_named_ports() -> None:
    for service in [one for one in MANIFEST_OBJECTS if one["kind"] == "Service"]:
        (target,) = [
            one["spec"]["template"]
            for one in DEPLOYMENTS.values()
            if one["spec"]["template"]["metadata"]["labels"] == service["spec"]["selector"]
        ]
        ports = _list_ports(target["spec"])
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports.keys()
        for port in service["spec"]["ports"]:
            assert port["port"] == ports[port["targetPort"]]


def test_only_named_pods_may_reach_health_ports() -> None:
    policies = [one["spec"] for one in MANIFEST_OBJECTS if one["kind"] == "NetworkPolicy"]
    chosen = [policy["podSelector"]["matchLabels"] for policy in policies]
    templates = [one["spec"]["template"] for one in DEPLOYMENTS.values()]
    assert sorted(map(str, chosen)) == sorted(str(one["metadata"]["labels"]) for one in templates)
    for policy in policies:
        (template,) = [
            one
            for one in templates
            if one["metadata"]["labels"] == policy["podSelector"]["matchLabels"]
        ]
        assert policy["policyTypes"] == ["Ingress"]
        named = [port["port"] for rule in policy["ingress"] for port in rule["ports"]]
        # Each once, by the name that the container gives it: another one would be closed to all.
        assert sorted(named) == sorted(_list_ports(template["spec"]))
        for rule in policy["ingress"]:
            ports = {port["port"] for port in rule["ports"]}
            assert ports == {"dashboard"} or all(one["podSelector"] for one in rule["from"])


def test_compose_publishes_no_health_port() -> None:
    """They listen on all addresses of their container; only the network of compose has a way."""
    published = {
        name: service["ports"]
        for name, service in COMPOSE["services"].items()
        if "ports" in service
    }
    assert published == {"dashboard": ["127.0.0.1:8080:8080"]}


def _list_ports(pod: dict[str, Any]) -> dict[str, int]:
    ports = [port for container in pod["containers"] for port in container.get("ports", ())]
    return {port["name"]: port["containerPort"] for port in ports}


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_services_of_compose_are_confined(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "healthcheck" in service
