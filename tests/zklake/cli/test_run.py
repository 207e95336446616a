from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from lab.run_directory import RunDirectory
from zklake.cli.main import app
from zklake.errors import LabError, SettingsError


def run(*options: str) -> BaseException | None:
    return CliRunner().invoke(app, ["run", *options]).exception


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run"):
        error = run("--dir", str(tmp_path / "run"))
    assert isinstance(error, LabError)
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
    assert "give --zookeeper too" in str(error)
    assert list(tmp_path.iterdir()) == []
