from __future__ import annotations

from pathlib import Path

import pytest

from zklake.errors import JavaError
from zklake.java import Java, find_java, read_version, require_java


def write_java(directory: Path, line: str) -> Path:
    """A launcher that says it is some Java, as the real one does: on stderr."""
    directory.mkdir(parents=True, exist_ok=True)
    launcher = directory / "java"
    launcher.write_text(f"#!/bin/sh\necho '{line}' >&2\n")
    launcher.chmod(0o755)
    return launcher


@pytest.mark.parametrize(
    ("version", "major"),
    [("17.0.15", 17), ("21", 21), ("1.8.0_392", 8), ("22-ea", 22), ("11.0.22", 11)],
)
def test_major_is_the_feature_release(version: str, major: int) -> None:
    assert Java(Path("java"), version).major == major


def test_java_home_wins_over_path(tmp_path: Path) -> None:
    home = write_java(tmp_path / "home" / "bin", 'openjdk version "21.0.2" 2024-01-16')
    write_java(tmp_path / "path", 'openjdk version "17.0.15" 2025-04-15')
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'path'}:/bin"}
    assert find_java(environ) == home
    assert require_java(environ).version == "21.0.2"


def test_an_empty_java_home_falls_back_to_path(tmp_path: Path) -> None:
    launcher = write_java(tmp_path / "path", 'openjdk version "17.0.15" 2025-04-15')
    environ = {"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": str(tmp_path / "path")}
    assert find_java(environ) == launcher


def test_missing_java_is_one_line_saying_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(JavaError, match=r"no java .* install Java 17 .*openjdk-17") as caught:
        require_java({"PATH": str(tmp_path)})
    assert "\n" not in str(caught.value)


def test_old_java_is_named(tmp_path: Path) -> None:
    launcher = write_java(tmp_path, 'java version "1.8.0_392"')
    with pytest.raises(JavaError, match=r"Java 1\.8\.0_392, too old.*openjdk-17") as caught:
        require_java({"PATH": f"{tmp_path}:/bin"})
    assert str(launcher) in str(caught.value)


def test_a_launcher_that_says_nothing_is_not_a_java(tmp_path: Path) -> None:
    with pytest.raises(JavaError, match="prints no version"):
        read_version(write_java(tmp_path, "Unable to locate a Java Runtime."))


def test_tool_options_do_not_hide_the_version(tmp_path: Path) -> None:
    line = 'Picked up JAVA_TOOL_OPTIONS: -Dversion=1\nopenjdk version "17.0.15" 2025-04-15'
    assert read_version(write_java(tmp_path, line)).version == "17.0.15"
