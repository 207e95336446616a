"""What goes into a deployment: its list, its memory, its base image, its known vulnerabilities."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dashboard.memory import _CELL_BYTES, _DASHBOARD_BYTES, estimate_memory
from deploy.audit import audit, judge
from deploy.sbom import build_sbom
from tests.deploy.commands import COMPOSE, list_parts
from tests.deploy.exported import DEPLOY
from tests.deploy.test_commands import place_files
from tests.deploy.test_schemas import PODS
from zklake.settings.load import load_settings

ROOT = DEPLOY.parent
UNITS = {"Mi": 1 << 20, "Gi": 1 << 30, "m": 1 << 20, "g": 1 << 30}


def read_bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)(\w+)", text)
    assert found
    return int(found[1]) * UNITS[found[2]]


def find_limit(where: str) -> int:
    if where.startswith("compose"):
        return read_bytes(COMPOSE["services"]["dashboard"]["mem_limit"])
    (container,) = [one for one in PODS["zklake-lake"]["containers"] if one["name"] == "dashboard"]
    return read_bytes(container["resources"]["limits"]["memory"])


@pytest.mark.parametrize("kind", ["compose", "kubernetes"])
def test_a_dashboard_has_room_for_every_query_at_once(kind: str, tmp_path: Path) -> None:
    (part,) = [one for one in list_parts() if one.where == f"{kind} dashboard"]
    settings = load_settings(environ=place_files(dict(part.environ), tmp_path))
    needed = estimate_memory(settings.query.memory_bytes)
    assert needed > 2 << 30  # what was given once, and was too little
    assert find_limit(part.where) >= needed


# Not by getrusage: that remembers the process that started this one.
_MEASURE = """
import re, sys
{work}
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024)
"""
_CELL = "import delta_tables.asking.cell"
_READER = "import delta_tables.live.reader_process"
_PAGES = """
from dashboard.options import Options
from tests.dashboard.addresses import ADDRESSES, name_api
from tests.dashboard.conftest import open_client
client = open_client(Options(sys.argv[1], "shop"))
for address in ADDRESSES:
    if not address.startswith("/sql"):
        assert client.get(address).status_code == client.get(name_api(address)).status_code == 200
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("work", "most"),
    [(_CELL, _CELL_BYTES), (_READER, _CELL_BYTES), (_PAGES, _DASHBOARD_BYTES)],
)
def test_the_estimate_is_not_below_what_is_measured(lake: str, work: str, most: int) -> None:
    code = _MEASURE.format(work=work)
    ran = subprocess.run(
        [sys.executable, "-c", code, lake], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert 1 << 20 < int(ran.stdout) < most


def test_the_base_image_is_named_by_its_digest() -> None:
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    first, *later = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert re.fullmatch(r"python:\S+@\$\{PYTHON_DIGEST\}", first)
    assert set(later) == {"java"}
    # Without a default in either place.
    assert re.search(r"^ARG PYTHON_DIGEST$", text, re.MULTILINE)
    for service in COMPOSE["services"].values():
        assert service["build"]["args"]["PYTHON_DIGEST"].startswith("${PYTHON_DIGEST:?")


@pytest.fixture(scope="module")
def sbom() -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "deploy.sbom"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_list_has_what_cyclonedx_wants(sbom: dict[str, Any]) -> None:
    """By its specification, 1.6: required fields, forms, and references that are unique."""
    assert (sbom["bomFormat"], sbom["specVersion"], sbom["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", sbom["serialNumber"])
    allowed = {"type", "bom-ref", "name", "version", "purl", "group", "hashes", "properties"}
    for one in (sbom["metadata"]["component"], *sbom["components"]):
        assert one["type"] in ("library", "application")
        assert one["name"]
        assert set(one) <= allowed
        assert re.fullmatch(r"pkg:(pypi|maven|npm)/[^@\s]+@[^@\s]+", one["purl"])
        for digest in one.get("hashes", ()):
            assert digest["alg"] == "SHA-256"
            assert re.fullmatch("[0-9a-f]{64}", digest["content"])
        for entry in one.get("properties", ()):
            assert set(entry) == {"name", "value"}
    references = [one["bom-ref"] for one in sbom["components"]]
    assert len(set(references)) == len(references)


def test_the_list_has_everything_that_is_locked(sbom: dict[str, Any]) -> None:
    listed = {one["purl"]: one for one in sbom["components"]}
    lock = (ROOT / "requirements.lock").read_text()
    locked = re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE)
    assert len(locked) > 50
    for name, version in locked:
        assert listed[f"pkg:pypi/{name.lower()}@{version}"]["properties"]
    assert lock.count("--hash=sha256:") == sum(
        len(one["properties"]) for purl, one in listed.items() if purl.startswith("pkg:pypi/")
    )
    jars = tomllib.loads((ROOT / "jars.lock").read_text())
    for name, digest in {**jars["spark"]}.items():
        group, artifact, version = name.split(":")[:3]
        jar = listed[f"pkg:maven/{group}/{artifact}@{version}"]
        assert jar["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert "uPlot" in {one["name"] for one in sbom["components"]}
    assert build_sbom() == sbom


GOOD = {"name": "a", "version": "1", "vulns": []}
UNKNOWN = {"name": "b", "skip_reason": "Dependency not found on PyPI"}
FLAW = {"id": "PYSEC-1", "fix_versions": ["2"], "description": ""}


@pytest.mark.parametrize(
    ("packages", "said", "is_failure"),
    [
        ([GOOD], "audited: no known vulnerability in 1 packages", False),
        ([GOOD, UNKNOWN], "audited: .*; 1 it could not look at", False),
        ([UNKNOWN], "NOT AUDITED: of 1 packages", False),
        ([{**GOOD, "vulns": [FLAW]}, UNKNOWN], "a 1: PYSEC-1, mended in 2", True),
    ],
)
def test_only_a_known_vulnerability_is_a_failure(
    packages: list[dict[str, Any]], said: str, is_failure: bool
) -> None:
    verdict = judge(json.dumps({"dependencies": packages}), "")
    assert re.search(said, verdict.text)
    assert verdict.is_failure is is_failure


def test_what_cannot_be_audited_is_said() -> None:
    assert "could not reach its data (no route)" in judge("", "trace\nno route\n").text
    assert "NOT AUDITED: /nowhere/pip-audit is missing" in audit("/nowhere/pip-audit").text
