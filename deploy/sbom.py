"""What zklake is made of, as CycloneDX 1.6: `python -m deploy.sbom > zklake.cdx.json`.

Read off the locks and the recorded hashes, so it says the same wherever it is made. The lock has
the tools of tests and builds, too: what an image holds is less.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zklake import __version__

ROOT = Path(__file__).parents[1]
_VENDOR = ROOT / "dashboard" / "static" / "vendor"
# Its name, its version, and the hashes on the lines below.
_PACKAGE = re.compile(
    r"^([\w.-]+)==([^\s;]+)[^\n]*\n((?: +--hash=sha256:[^\n]+\n?)+)", re.MULTILINE
)
_VENDORED = re.compile(r"(?P<name>[A-Za-z]+)-(?P<version>\d+(?:\.\d+)+)\.")
Component = dict[str, Any]


def list_packages() -> Iterator[Component]:
    """Of requirements.lock; each hash is that of one of the files that pip would take."""
    for name, version, hashes in _PACKAGE.findall((ROOT / "requirements.lock").read_text()):
        files = re.findall(r"sha256:([0-9a-f]{64})", hashes)
        yield {
            **_name("library", name, version, f"pkg:pypi/{name.lower()}@{version}"),
            "properties": [{"name": "zklake:lock:sha256", "value": one} for one in files],
        }


def list_jars() -> Iterator[Component]:
    """Of jars.lock: a JAR may be in several sets."""
    sets: dict[str, dict[str, str]] = tomllib.loads((ROOT / "jars.lock").read_text())
    jars = {name: digest for jars in sets.values() for name, digest in jars.items()}
    for coordinates, digest in sorted(jars.items()):
        group, artifact, version = coordinates.split(":")[:3]
        purl = f"pkg:maven/{group}/{artifact}@{version}"
        yield {**_name("library", artifact, version, purl), "group": group, "hashes": _hash(digest)}


def list_vendored() -> Iterator[Component]:
    """Scripts and styles of others that the pages load."""
    for line in (_VENDOR / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        if found := _VENDORED.match(name):
            purl = f"pkg:npm/{found['name'].lower()}@{found['version']}#{name}"
            named = _name("library", found["name"], found["version"], purl)
            yield {**named, "hashes": _hash(digest)}


def build_sbom() -> dict[str, Any]:
    """The whole document; its number follows from what it lists."""
    components = [*list_packages(), *list_jars(), *list_vendored()]
    listed = json.dumps(components, sort_keys=True)
    ours = _name("application", "zklake", __version__, f"pkg:pypi/zklake@{__version__}")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, listed)}",
        "version": 1,
        "metadata": {"component": ours},
        "components": components,
    }


def _name(kind: str, name: str, version: str, purl: str) -> Component:
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _hash(digest: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest}]


if __name__ == "__main__":
    json.dump(build_sbom(), sys.stdout, indent=1)
    sys.stdout.write("\n")
