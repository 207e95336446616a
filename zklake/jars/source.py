"""Where JARs come from: Ivy (Maven Central or a mirror), or a directory somebody filled.

A source puts JARs, under their cache names, into the directory it is given; it checks no hash.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from zklake.errors import JarError
from zklake.jars.ivy import Arrived, download
from zklake.jars.lock import Coordinate


class Source(Protocol):
    """Anything that can bring JARs."""

    def bring(self, coordinates: Sequence[Coordinate], into: Path, arrived: Arrived) -> None:
        """Put the JARs into the directory, or raise a JarError."""


class IvySource(NamedTuple):
    """A Maven repository; the settings file names a mirror."""

    settings: Path | None = None

    def bring(self, coordinates: Sequence[Coordinate], into: Path, arrived: Arrived) -> None:
        """Download."""
        download(coordinates, into, arrived, self.settings)


class DirectorySource(NamedTuple):
    """A directory of JARs, under their cache names or as Maven names them."""

    directory: Path

    def bring(self, coordinates: Sequence[Coordinate], into: Path, arrived: Arrived) -> None:
        """Copy."""
        lost = [jar.file_name for jar in coordinates if self._find(jar) is None]
        if lost:
            raise JarError(
                f"{self.directory} lacks {', '.join(lost)}: copy them there (a filled cache of "
                "another machine has all of them), or fetch without --offline-dir"
            )
        for jar in coordinates:
            found = self._find(jar)
            assert found is not None
            shutil.copyfile(found, into / jar.file_name)
            arrived(jar)

    def _find(self, jar: Coordinate) -> Path | None:
        names = (jar.file_name, f"{jar.artifact}-{jar.version}.jar")
        return next((p for name in names if (p := self.directory / name).is_file()), None)


def choose_source(
    offline_dir: Path | None = None,
    ivy_settings: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Source:
    """A directory when one is given, else Ivy; flags win over the environment."""
    directory = offline_dir or environ.get("ZKLAKE_JARS_OFFLINE_DIR")
    if directory:
        return DirectorySource(Path(directory).expanduser())
    return IvySource(find_ivy_settings(ivy_settings, environ))


def find_ivy_settings(
    given: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path | None:
    """The settings file of a mirror, if one was given; it must be there."""
    named = given or environ.get("ZKLAKE_IVY_SETTINGS")
    if not named:
        return None
    settings = Path(named).expanduser()
    if not settings.is_file():
        raise JarError(f"the Ivy settings file {settings} does not exist")
    return settings
