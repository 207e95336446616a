"""Known vulnerabilities of what is locked, by pip-audit: `python -m deploy.audit PIP_AUDIT`.

Its data lies elsewhere: where it cannot be reached, or a mirror in its place knows nothing of the
packages, one line says that nothing was audited. Only a vulnerability that is known is a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LOCK = Path(__file__).parents[1] / "requirements.lock"
_OPTIONS = ("--disable-pip", "--require-hashes", "--format=json", "--progress-spinner=off")
_PATIENCE_S = 120


class Verdict(NamedTuple):
    """What to say, and whether it is a failure."""

    text: str
    is_failure: bool = False


def judge(report: str, complaint: str) -> Verdict:
    """What pip-audit found, from its JSON and from what it said beside."""
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (complaint.strip().splitlines() or ["it said nothing"])[-1]
        return Verdict(f"NOT AUDITED: pip-audit could not reach its data ({last[:200]})")
    looked_at = [one for one in packages if "skip_reason" not in one]
    if not looked_at:
        return Verdict(
            f"NOT AUDITED: of {len(packages)} packages pip-audit's data knows none "
            "(a mirror in the place of PyPI has no vulnerabilities)"
        )
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}"
        + (f", mended in {', '.join(flaw['fix_versions'])}" if flaw["fix_versions"] else "")
        for one in looked_at
        for flaw in one["vulns"]
    ]
    if found:
        return Verdict("\n".join(["vulnerable, by pip-audit:", *found]), is_failure=True)
    skipped = len(packages) - len(looked_at)
    beside = f"; {skipped} it could not look at" if skipped else ""
    return Verdict(f"audited: no known vulnerability in {len(looked_at)} packages{beside}")


def audit(program: str, lock: Path = LOCK) -> Verdict:
    """Run it."""
    command = [program, *_OPTIONS, "--requirement", str(lock)]
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except FileNotFoundError:
        return Verdict(f"NOT AUDITED: {program} is missing, and could not be installed")
    except subprocess.TimeoutExpired:
        return Verdict(f"NOT AUDITED: pip-audit took longer than {_PATIENCE_S} s")
    return judge(ran.stdout, ran.stderr)


if __name__ == "__main__":
    verdict = audit(sys.argv[1])
    sys.stderr.write(f"{verdict.text}\n")
    sys.exit(verdict.is_failure)
