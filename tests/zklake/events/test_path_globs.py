from __future__ import annotations

import pytest

from zklake.errors import SettingsError
from zklake.events.path_globs import PathGlobs


@pytest.mark.parametrize(
    ("pattern", "path", "holds"),
    [
        ("/a/**", "/a", True),
        ("/a/**", "/a/b/c", True),
        ("/a/**", "/ab", False),
        ("/a/*", "/a/b", True),
        ("/a/*", "/a", False),
        ("/a/*", "/a/b/c", False),
        ("/a/**/z", "/a/z", True),
        ("/a/**/z", "/a/b/c/z", True),
        ("/a/b*d", "/a/bcd", True),
        ("/a/b.d", "/a/bcd", False),
        ("/a/", "/a", True),
        ("/", "/", True),
        ("/**", "/", True),
        ("/**", "/anything/at/all", True),
        ("/", "/a", False),
    ],
)
def test_patterns(pattern: str, path: str, holds: bool) -> None:
    assert PathGlobs([pattern]).holds(path) is holds
    assert PathGlobs(["/nowhere", pattern]).holds(path) is holds


def test_no_pattern_holds_for_nothing() -> None:
    assert not PathGlobs([]).holds("/")


def test_a_pattern_begins_with_a_slash() -> None:
    with pytest.raises(SettingsError, match="'kafka"):
        PathGlobs(["kafka-acl/**"])
