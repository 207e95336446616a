"""What others wrote and we serve is what was looked at: its hashes stand in vendor/SHA256SUMS."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2] / "dashboard"
VENDOR = ROOT / "static" / "vendor"
SUMS = VENDOR / "SHA256SUMS"


def test_every_vendored_file_has_its_recorded_hash() -> None:
    recorded = {name: wanted for wanted, name in map(str.split, SUMS.read_text().splitlines())}
    found = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and path != SUMS
    }
    assert found == recorded


def test_pages_load_scripts_and_styles_of_ours_or_recorded_ones_only() -> None:
    base = (ROOT / "templates" / "base.html").read_text()
    loaded = re.findall(r'<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"', base)
    assert loaded
    for address in loaded:
        assert address.startswith("/static/")
        assert (ROOT / address.removeprefix("/")).is_file()
    for template in (ROOT / "templates").glob("*.html"):
        if template.name != "base.html":
            # Data is no script.
            text = template.read_text().replace('<script type="application/json">', "")
            assert "<script" not in text, template.name
