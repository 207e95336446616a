"""Downloads with the Ivy inside pyspark, which finds Maven Central by itself.

It knows coordinates and where to put files; hashes and the cache are not its business.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from zklake.errors import JarError
from zklake.jars.location import pyspark_jars_dir
from zklake.jars.lock import Coordinate, parse_coordinate
from zklake.jars.wanted import JarSet
from zklake.java import require_java

Arrived = Callable[[Coordinate], None]

# ibiblio without a root is Maven Central. Without poms a fetch asks only for the JARs: 5 in 3 s
# instead of 9 s.
_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="{use_poms}"/></resolvers>
</ivysettings>
"""
_MODULE = """\
<ivy-module version="2.0">
  <info organisation="zklake" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""
_ADVICE = (
    "Check the network; behind a mirror give its Ivy settings file (--ivy-settings FILE or "
    "ZKLAKE_IVY_SETTINGS); without a network put the JARs into a directory (--offline-dir DIR or "
    "ZKLAKE_JARS_OFFLINE_DIR)."
)
_DOWNLOADED = re.compile(r"\[SUCCESSFUL \] ([^#]+)#([^;]+);([^!]+)!")
_NOT_FOUND = re.compile(r":: ([^#\s]+)#([^;]+);([^:!]+)(?:!\S+)?: (.+)")
_ERRORS = ":::: ERRORS"


def download(
    coordinates: Sequence[Coordinate], into: Path, arrived: Arrived, settings: Path | None = None
) -> None:
    """Put exactly these JARs into a directory, named as in the cache."""
    module = _describe(coordinates, transitive=False)
    pattern = f"{into}/[organisation]_[module]-[revision].[ext]"
    _run_ivy(module, pattern, arrived, settings, use_poms=False)
    if lost := [str(jar) for jar in coordinates if not (into / jar.file_name).exists()]:
        raise JarError(f"Ivy brought no JAR for {', '.join(lost)}. {_ADVICE}")


def resolve(
    wanted: JarSet, into: Path, arrived: Arrived, settings: Path | None = None
) -> dict[Coordinate, Path]:
    """Put the JARs of a wanted set, with their dependencies where it says so, into a directory."""
    coordinates = [parse_coordinate(text) for text in wanted.coordinates]
    module = _describe(coordinates, transitive=wanted.transitive, without=wanted.without)
    pattern = f"{into}/[organisation]/[module]/[revision].[ext]"
    _run_ivy(module, pattern, arrived, settings, use_poms=True)
    return {
        Coordinate(path.parts[-3], path.parts[-2], path.stem): path
        for path in sorted(into.glob("*/*/*.jar"))
    }


def _describe(
    coordinates: Iterable[Coordinate], *, transitive: bool, without: Sequence[str] = ()
) -> str:
    lines = [
        f'<dependency org="{jar.group}" name="{jar.artifact}" rev="{jar.version}" '
        f'transitive="{str(transitive).lower()}" conf="default->default"/>'
        for jar in coordinates
    ]
    for pair in without:
        group, artifact = pair.split(":")
        lines.append(f'<exclude org="{group}" module="{artifact}"/>')
    return _MODULE.format(dependencies="\n".join(f"    {line}" for line in lines))


def _run_ivy(
    module: str, pattern: str, arrived: Arrived, settings: Path | None, *, use_poms: bool
) -> None:
    java = require_java()
    with tempfile.TemporaryDirectory(prefix="zklake-ivy-") as scratch:
        home = Path(scratch)
        (home / "ivy.xml").write_text(module, encoding="utf-8")
        if settings is None:
            settings = home / "settings.xml"
            settings.write_text(_SETTINGS.format(use_poms=str(use_poms).lower()), encoding="utf-8")
        # A cache of its own: Ivy's shared one is not safe for two processes.
        command = [java.path, "-Xmx256m", f"-Divy.default.ivy.user.dir={home}"]
        command += ["-cp", f"{pyspark_jars_dir()}/*", "org.apache.ivy.Main"]
        command += ["-settings", settings, "-cache", home / "cache", "-ivy", home / "ivy.xml"]
        _follow([str(part) for part in [*command, "-retrieve", pattern]], arrived)


def _follow(command: list[str], arrived: Arrived) -> None:
    lines: deque[str] = deque(maxlen=2000)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as ivy:
        try:
            for line in ivy.stdout or ():
                lines.append(line.strip())
                if found := _DOWNLOADED.search(line):
                    arrived(Coordinate(*found.groups()))
        except BaseException:
            ivy.kill()
            raise
    if ivy.returncode != 0:
        raise JarError(explain_failure(lines))


def explain_failure(report: Iterable[str]) -> str:
    """One line out of Ivy's report: the coordinates it lacks, why, and what to do."""
    lines = [text for line in report if (text := line.strip())]
    lost = [found.groups() for line in lines if (found := _NOT_FOUND.search(line))]
    if not lost:
        return f"Ivy failed: {' / '.join(lines[-3:])}. {_ADVICE}"
    names = list(dict.fromkeys(str(Coordinate(*parts[:3])) for parts in lost))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    # "not found" is also what it says of a server that cannot be reached; that stands below.
    cause = lines[lines.index(_ERRORS) + 1] if _ERRORS in lines[:-1] else lost[0][3]
    return f"Ivy cannot fetch {', '.join(names[:3])}{more}: {cause}. {_ADVICE}"
