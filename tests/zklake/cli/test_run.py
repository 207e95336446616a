from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.demonstration import Wishes, _build_parts
from zklake.cli.main import app
from zklake.cli.run import _find_wishes
from zklake.errors import LabError, RunError, SettingsError
from zklake.settings.load import load_with_origins
from zklake.supervision.part import Site
from zklake.supervision.run_directory import RunDirectory


def run(*options: str) -> BaseException | None:
    return CliRunner().invoke(app, ["run", *options]).exception


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run"):
        error = run("--dir", str(tmp_path / "run"))
    assert isinstance(error, RunError)
    assert "another `zklake run`" in str(error)


def test_a_real_cluster_is_never_forgotten(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    error = run("--zookeeper", "zk1:2181", "--lake", str(lake), "--fresh", "--dir", str(tmp_path))
    assert isinstance(error, SettingsError)
    assert "--zookeeper names a real one" in str(error)
    assert lake.exists()


def test_half_a_real_cluster_is_refused(tmp_path: Path) -> None:
    error = run("--lake", str(tmp_path / "lake"), "--dir", str(tmp_path / "run"))
    assert isinstance(error, SettingsError)
    assert "add --zookeeper" in str(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("by", ["flag", "file", "environment"])
def test_the_embedded_run_takes_what_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    wished = list[Wishes]()

    def note(place: RunDirectory, brokers: int, by: object, wishes: Wishes, **rest: object) -> None:
        wished.append(wishes)
        raise LabError("seen enough")

    monkeypatch.setattr("lab.demonstration.Demonstration", note)
    monkeypatch.setattr("logging.basicConfig", lambda **rest: None)
    for name in [name for name in os.environ if name.startswith("ZKLAKE_")]:
        monkeypatch.delenv(name)
    config = tmp_path / "some.toml"
    config.write_text("[watcher]\nsample_interval_s = 3\n")
    options = ["--config", str(config), "--dir", str(tmp_path / "run")]
    address = "127.0.0.1:18181"
    if by == "flag":
        options += ["--http", address]
    elif by == "file":
        config.write_text(f'{config.read_text()}[dashboard]\nhttp = "{address}"\n')
    else:
        monkeypatch.setenv("ZKLAKE_DASHBOARD__HTTP", address)
    assert isinstance(run(*options), LabError)
    assert wished == [Wishes(address, 3, ["--config", str(config)])]


def test_what_nobody_says_is_left_to_the_embedded_run() -> None:
    settings, origins = load_with_origins(environ={})
    assert _find_wishes(settings, origins, None) == Wishes(None, None, [])


def test_every_part_of_an_embedded_run_is_told(tmp_path: Path) -> None:
    site = Site("127.0.0.1:1", "127.0.0.1:1", "lab", str(tmp_path / "lake"))
    wishes = Wishes("127.0.0.1:18181", 3, ["--config", "some.toml"], has_tls=True)
    with RunDirectory(tmp_path / "run") as place:
        parts = _build_parts(site, place, wishes)
    assert [part._command[-2:] for part in parts] == [["--config", "some.toml"]] * 4
    assert "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S=3" in parts[0]._command
    assert parts[2].url == "https://127.0.0.1:18181"
