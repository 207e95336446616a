from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from typer.testing import CliRunner

from zklake.cli.extras import EXTRAS, OPTIONAL, name_extra
from zklake.cli.main import app

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Results wait in a buffer, as they do in a shell.
ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def run(code: str, *arguments: str, out: int = subprocess.PIPE) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=out,
        stderr=subprocess.PIPE,
        env=ENVIRON,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout or "", done.stderr


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import atexit, sys; from zklake.cli.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main()"
    )
    status, out, modules = run(code, "--help")
    assert status == 0
    assert "Commands:" in out
    heavy = OPTIONAL | {"prompt_toolkit", "pydantic", "rich", "structlog", "prometheus_client"}
    assert not heavy & set(modules.split())


@pytest.mark.parametrize("arguments", [["--help"], ["lab", "--help"]])
def test_help_says_whole_sentences(arguments: list[str]) -> None:
    out = CliRunner().invoke(app, arguments).stdout
    assert "  consume " in out or "  describe " in out
    assert "..." not in out.replace("COMMAND [ARGS]...", "")


@pytest.mark.parametrize(
    ("arguments", "module", "extra"),
    [
        (["watch"], "kazoo", "watcher"),
        (["stream", "--once"], "pyspark", "stream"),
        (["dashboard"], "starlette", "dashboard"),
        (["lab", "produce", "--topic", "t"], "confluent_kafka", "lab"),
    ],
)
def test_a_missing_extra_is_one_line(
    tmp_path: Path, arguments: list[str], module: str, extra: str
) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; from zklake.cli.main import main; main()"
    if arguments[0] not in ("watch", "lab"):
        arguments = [*arguments, "--lake", str(tmp_path)]
    said = f"error: {module} is not installed: pip install 'zklake[{extra}]'\n"
    assert run(code, *arguments) == (1, "", said)


def test_an_extra_goes_by_the_command() -> None:
    assert name_extra("sql", "deltalake") == "sql"
    assert name_extra("alerts", "deltalake") == "dashboard"
    assert name_extra("run", "kazoo") == "watcher,stream,dashboard,lab"
    # A fault of ours, and to be seen as one.
    assert name_extra("sql", "msgspec") is None


# What no command needs, but a setting (zklake/zookeeper_sasl.py says so).
BY_SETTINGS = {"sasl"}


def test_every_extra_that_is_named_can_be_installed() -> None:
    named = {extra for names in EXTRAS.values() for extra in names.split(",")}
    assert named | BY_SETTINGS == set(PROJECT["optional-dependencies"])
    commands = {one.name for one in app.registered_commands}
    commands |= {one.name for one in app.registered_groups}
    assert set(EXTRAS) < commands


def fold(name: str) -> str:
    return name.lower().replace("_", "-")


def test_the_optional_modules_are_those_of_the_extras() -> None:
    extras = PROJECT["optional-dependencies"].items()
    lines = [line for name, lines in extras if name not in BY_SETTINGS for line in lines]
    wanted = {line.partition("=")[0].rstrip(">") for line in lines}
    found = packages_distributions()
    assert {fold(name) for module in OPTIONAL for name in found[module]} == wanted


@pytest.mark.parametrize("arguments", [["--version"], ["config", "show"]])
def test_a_reader_that_has_gone_is_no_news(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        status, _, err = run("from zklake.cli.main import main; main()", *arguments, out=writer)
    finally:
        os.close(writer)
    assert (status, err) == (1, "")


def test_an_error_keeps_its_exit_code_when_nobody_reads_it(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "zklake", "tables", "--lake", str(tmp_path)]
    try:
        done = subprocess.run(command, stdout=writer, stderr=writer, env=ENVIRON, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 12


def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        code = "from zklake.cli.main import main; main()"
        status, _, err = run(code, "--version", out=full.fileno())
    assert (status, err) == (1, "error: cannot write the result: No space left on device\n")


def test_an_interrupt_has_its_exit_code_also_while_a_dataclass_is_imported(tmp_path: Path) -> None:
    # Such an import runs texts under exec; CPython then ends `python -m` by the signal.
    module = tmp_path / "interrupted.py"
    module.write_text(
        "from zklake.cli import main\n"
        "main.app = lambda: exec('raise KeyboardInterrupt')\n"
        "main.main()\n"
    )
    command = [sys.executable, "-m", module.stem]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=ENVIRON, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_closed_outputs_are_none_of_our_business() -> None:
    command = f"{sys.executable} -m zklake --version >&- 2>&-"
    assert subprocess.run(command, shell=True, env=ENVIRON, check=False).returncode == 0
