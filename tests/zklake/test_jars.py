from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.zklake.jar_files import APPLE, NUT, PEAR, content_of, fill, make_lock, sha256_of
from zklake.errors import JarError
from zklake.jars import open_cache
from zklake.jars.cache import JarCache, explain_wrong
from zklake.jars.ivy import Arrived, explain_failure
from zklake.jars.location import cache_dir, pyspark_jars_dir
from zklake.jars.lock import Coordinate, format_lock, parse_lock, read_lock, write_lock
from zklake.jars.locksmith import check_bindings
from zklake.jars.progress import JarLines
from zklake.jars.source import DirectorySource, IvySource, choose_source
from zklake.jars.wanted import WANTED

SILENT = JarLines(lambda line: None)


class Refusing:
    """A source that must not be asked."""

    def bring(self, coordinates: Sequence[Coordinate], into: Path, arrived: Arrived) -> None:
        raise AssertionError(f"asked for {coordinates}")


@pytest.fixture
def cache(tmp_path: Path) -> JarCache:
    return JarCache(tmp_path / "cache", make_lock())


@pytest.fixture
def offline(tmp_path: Path) -> DirectorySource:
    return DirectorySource(fill(tmp_path / "offline", APPLE, PEAR, NUT))


def test_a_lock_survives_writing_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "jars.lock"
    write_lock(path, make_lock())
    assert read_lock(path) == make_lock()
    assert [entry.name for entry in tmp_path.iterdir()] == ["jars.lock"]


def test_a_lock_is_sorted_whatever_came_first() -> None:
    lock = make_lock()
    turned = {name: dict(reversed(list(jars.items()))) for name, jars in lock.items()}
    assert format_lock(turned) == format_lock(lock)
    assert '["mixed-1.0"]\n"org.fruit:apple:1.0" = ' in format_lock(lock)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[spark]\n"org.fruit:apple" = "00"', "not a group:artifact:version"),
        ('[spark]\n"a:b:1\\"/>" = "00"', "not a group:artifact:version"),
        ('[spark]\n"a:b:1" = "00"', "no sha256 of 64 hex digits"),
        ("spark = 1", "not a JAR lock"),
        ("[spark", "not a JAR lock"),
    ],
)
def test_a_broken_lock_names_itself(text: str, complaint: str) -> None:
    with pytest.raises(JarError, match=complaint) as caught:
        parse_lock(text, "here/jars.lock")
    assert str(caught.value).startswith("here/jars.lock")


def test_the_lock_of_this_repository_has_what_is_wanted() -> None:
    lock = open_cache().lock
    assert list(lock) == [wanted.name for wanted in WANTED]
    for wanted in WANTED:
        names = {str(jar) for jar in lock[wanted.name]}
        assert names >= set(wanted.coordinates)
        assert wanted.transitive or names == set(wanted.coordinates)
        check_bindings(wanted.name, lock[wanted.name])


def test_two_logging_back_ends_are_refused() -> None:
    jars = [Coordinate("org.slf4j", "slf4j-simple", "1"), Coordinate("a", "logback-classic", "1")]
    with pytest.raises(JarError, match="2 slf4j bindings"):
        check_bindings("kafka", jars)


def test_fetch_brings_a_set_under_its_cache_names(
    cache: JarCache, offline: DirectorySource
) -> None:
    with pytest.raises(JarError, match="run `zklake jars fetch fruit`"):
        cache.paths("fruit")
    assert cache.fetch(["fruit", "mixed-1.0"], offline, SILENT) == {"fruit": 2, "mixed-1.0": 1}
    assert [path.name for path in cache.paths("fruit")] == [
        "org.fruit_apple-1.0.jar",
        "org.fruit_pear_2.13-2.0.1.jar",
    ]
    assert {state.state for state in cache.verify()} == {"ok"}
    assert not list(cache.directory.glob(".fetch-*"))


def test_a_second_fetch_asks_nobody(cache: JarCache, offline: DirectorySource) -> None:
    cache.fetch(["fruit"], offline, SILENT)
    assert cache.fetch(["fruit"], Refusing(), SILENT) == {"fruit": 0}


def test_only_what_is_missing_is_asked_for(cache: JarCache, tmp_path: Path) -> None:
    cache.fetch(["fruit"], DirectorySource(fill(tmp_path / "one", APPLE, PEAR)), SILENT)
    only_nut = DirectorySource(fill(tmp_path / "two", NUT))
    assert cache.fetch(["mixed-1.0"], only_nut, SILENT) == {"mixed-1.0": 1}


def test_progress_counts(cache: JarCache, offline: DirectorySource) -> None:
    lines: list[str] = []
    cache.fetch(["fruit"], offline, JarLines(lines.append))
    assert lines == [
        "fruit: 2 JARs to fetch",
        "fruit: 1 of 2  org.fruit:apple:1.0",
        "fruit: 2 of 2  org.fruit:pear_2.13:2.0.1",
    ]


def test_a_wrong_hash_stops_with_both_hashes(cache: JarCache, offline: DirectorySource) -> None:
    (offline.directory / PEAR.file_name).write_bytes(content_of(NUT))
    with pytest.raises(JarError, match=r"jars\.lock") as caught:
        cache.fetch(["fruit"], offline, SILENT)
    message = str(caught.value)
    assert PEAR.file_name in message
    assert str(offline.directory) in message
    assert sha256_of(PEAR) in message
    assert sha256_of(NUT) in message
    assert not cache.path(PEAR).exists()


def test_verify_finds_a_corrupt_and_a_missing_jar(
    cache: JarCache, offline: DirectorySource
) -> None:
    cache.fetch(["fruit"], offline, SILENT)
    cache.path(APPLE).write_bytes(content_of(NUT))
    cache.path(PEAR).unlink()
    apple, pear = cache.verify(["fruit"])
    assert (apple.state, pear.state) == ("wrong", "missing")
    message = explain_wrong(apple)
    assert sha256_of(APPLE) in message
    assert sha256_of(NUT) in message
    assert "delete it and run `zklake jars fetch fruit`" in message


def test_an_offline_directory_may_use_mavens_names(cache: JarCache, tmp_path: Path) -> None:
    (tmp_path / "apple-1.0.jar").write_bytes(content_of(APPLE))
    (tmp_path / "pear_2.13-2.0.1.jar").write_bytes(content_of(PEAR))
    assert cache.fetch(["fruit"], DirectorySource(tmp_path), SILENT) == {"fruit": 2}


def test_an_offline_directory_names_all_it_lacks(cache: JarCache, tmp_path: Path) -> None:
    with pytest.raises(JarError, match=rf"lacks {APPLE.file_name}, {PEAR.file_name}"):
        cache.fetch(["fruit"], DirectorySource(tmp_path), SILENT)


def test_drafts_of_a_killed_fetch_are_swept(cache: JarCache, offline: DirectorySource) -> None:
    fill(cache.directory / ".fetch-killed", APPLE)
    cache.fetch(["fruit"], offline, SILENT)
    assert not (cache.directory / ".fetch-killed").exists()


def test_an_unknown_set_names_the_known(cache: JarCache) -> None:
    with pytest.raises(JarError, match=r"no JAR set 'frut'; use one of: fruit, mixed-1\.0"):
        cache.fetch(["frut"], Refusing(), SILENT)


FETCHER = """
import sys, time
from pathlib import Path
from tests.zklake.jar_files import make_lock
from zklake.jars.cache import JarCache
from zklake.jars.progress import JarLines
from zklake.jars.source import DirectorySource

class Slow(DirectorySource):
    def bring(self, coordinates, into, arrived):
        print("bringing", flush=True)
        sys.stdin.readline()
        super().bring(coordinates, into, arrived)

say = JarLines(lambda line: print(line, flush=True))
cache = JarCache(Path(sys.argv[1]), make_lock())
print("fetched", cache.fetch(["fruit"], Slow(Path(sys.argv[2])), say)["fruit"], flush=True)
"""


def test_of_two_processes_one_fetches_and_the_other_waits(
    cache: JarCache, offline: DirectorySource
) -> None:
    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", FETCHER, str(cache.directory), str(offline.directory)]
        root = Path(__file__).parents[2]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=root)

    with start() as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "fruit: 2 JARs to fetch\n"
        assert first.stdout.readline() == "bringing\n"
        with start() as second:
            assert second.stdout is not None
            assert second.stdout.readline().startswith("another process is fetching into ")
            rest, _ = first.communicate("\n", timeout=20)
            assert rest.endswith("fetched 2\n")
            rest, _ = second.communicate(timeout=20)
            assert rest == "fetched 0\n"
    assert {state.state for state in cache.verify(["fruit"])} == {"ok"}


def test_a_source_is_chosen_by_flag_then_environment(tmp_path: Path) -> None:
    settings = tmp_path / "ivysettings.xml"
    settings.write_text("<ivysettings/>")
    environ = {"ZKLAKE_IVY_SETTINGS": str(settings)}
    assert choose_source(environ={}) == IvySource(None)
    assert choose_source(environ=environ) == IvySource(settings)
    offline = {**environ, "ZKLAKE_JARS_OFFLINE_DIR": "/jars"}
    assert choose_source(environ=offline) == DirectorySource(Path("/jars"))
    assert choose_source(tmp_path, environ=offline) == DirectorySource(tmp_path)
    with pytest.raises(JarError, match="does not exist"):
        choose_source(ivy_settings=tmp_path / "gone.xml", environ={})


def test_the_cache_is_per_user_and_can_be_moved() -> None:
    assert cache_dir({"XDG_CACHE_HOME": "/x"}) == Path("/x/zklake/jars")
    assert cache_dir({"XDG_CACHE_HOME": "/x", "ZKLAKE_JARS_CACHE": "/y"}) == Path("/y")
    assert cache_dir({}) == Path.home() / ".cache/zklake/jars"


def test_pyspark_is_found_without_importing_it() -> None:
    assert list(pyspark_jars_dir().glob("ivy-*.jar"))
    assert list(pyspark_jars_dir().glob("zookeeper-3.9.3.jar"))


def test_an_ivy_failure_names_coordinate_cause_and_way_out() -> None:
    report = """
        :: UNRESOLVED DEPENDENCIES ::
        :: org.apache.commons#commons-pool2;2.12.99: not found
    """
    message = explain_failure(report.splitlines())
    assert "org.apache.commons:commons-pool2:2.12.99: not found" in message
    refused = ":::: ERRORS\n\tHttpClientHandler: Connect to mirror:80 failed: Connection refused"
    unreachable = explain_failure([*report.splitlines(), *refused.splitlines()])
    assert "commons-pool2:2.12.99: HttpClientHandler: Connect to mirror:80 failed" in unreachable
    assert "--ivy-settings" in message
    assert "--offline-dir" in message
