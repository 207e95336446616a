"""The documents say what is there: commands, options, targets, metrics, exit codes, files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from auditor.metrics import AuditMetrics
from delta_tables.catalog import TABLES
from deploy import process_metrics
from streaming.metrics import StreamMetrics
from watcher.metrics import WatcherMetrics
from zklake import errors
from zklake.cli.main import app
from zklake.errors import ZklakeError

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
METRICS = ROOT / "docs" / "process-metrics.md"
MAKEFILE = (ROOT / "Makefile").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def find_commands(command: Any, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Every command that does something, with its options."""
    children = getattr(command, "commands", None)
    if children is None:
        yield name, {option for parameter in command.params for option in parameter.opts}
        return
    for child_name, child in children.items():
        yield from find_commands(child, f"{name} {child_name}".strip())


COMMANDS = dict(find_commands(typer.main.get_command(app)))


def find_code(text: str) -> list[str]:
    """Inline code and the lines of code blocks, continued lines joined."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()] + inline


def find_invocations(text: str) -> list[tuple[str, str]]:
    """(command, the rest of the line) for every `zklake …` that a document shows."""
    names = "|".join(sorted(COMMANDS, key=len, reverse=True))
    other = "--help$|jars$"
    lines = [line for line in find_code(text) if re.match(r"(\$ |\.venv/bin/)*zklake ", line)]
    found = []
    for line in lines:
        match = re.match(rf"(?:\$ |\.venv/bin/)*zklake (?:({names})\b(.*)|{other})", line)
        assert match, f"no such command: {line}"
        if match[1]:
            found.append((match[1], re.sub(r'"[^"]*"', "", match[2])))
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_and_option_shown_exists(path: Path) -> None:
    for command, rest in find_invocations(path.read_text()):
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
            assert option in {*COMMANDS[command], "--help"}, f"zklake {command} has no {option}"


def test_the_readme_names_every_command_with_options_that_exist() -> None:
    rows = dict(re.findall(r"^\| `zklake ([a-z ]+)` \| (.*) \|$", README, re.MULTILINE))
    assert rows.keys() == COMMANDS.keys()
    for command, says in rows.items():
        named = set(re.findall(r"`(--[a-z-]+)`", says))
        assert named <= COMMANDS[command], f"zklake {command}: {named - COMMANDS[command]}"


def test_every_option_of_a_command_stands_in_the_readme() -> None:
    known = {*re.findall(r"--[a-z-]+", README), "--help"}
    for command, options in COMMANDS.items():
        missing = {option for option in options if option.startswith("--")} - known
        assert not missing, f"zklake {command} has {missing}, and the README does not say so"


def test_every_option_shown_belongs_to_some_command() -> None:
    known = {option for options in COMMANDS.values() for option in options}
    assert set(re.findall(r"`(--[a-z-]+)`", README)) <= known


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_shown_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    named = [re.match(r"make ([a-z-]+)", code) for code in find_code(path.read_text())]
    assert {match[1] for match in named if match} <= targets


def test_contributing_names_every_make_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE)) - {"help"}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert set(re.findall(r"^\| `make ([a-z-]+)`", text, re.MULTILINE)) == targets


def test_the_readme_names_every_table() -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \|", README, re.MULTILINE)
    assert sorted(listed) == sorted(table.name for table in TABLES)


def test_every_metric_of_a_process_is_described() -> None:
    text = METRICS.read_text()
    assert text == process_metrics.describe(), "run `make docs`"
    listed = re.findall(r"^\| `(zklake_\w+)` \|", text, re.MULTILINE)
    processes = (WatcherMetrics, StreamMetrics, AuditMetrics)
    assert sorted(listed) == sorted(name for one in processes for name in one.list_names())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_metric_named_is_listed(path: Path) -> None:
    listed = set(re.findall(r"^\| `(zklake_\w+)` \|", METRICS.read_text(), re.MULTILINE))
    named = set(re.findall(r"\bzklake_(?:watcher|stream|audit)_\w+", path.read_text()))
    assert named <= listed


def test_exit_codes_are_those_of_the_errors() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    raised = {c.__name__: c.exit_code for c in classes if issubclass(c, ZklakeError)}
    listed = re.findall(r"^\| (\d+) \| `(\w+)` \|", OPERATIONS, re.MULTILINE)
    assert {name: int(code) for code, name in listed} == raised
    assert len(set(raised.values())) == len(raised)


def anchors(path: Path) -> set[str]:
    """The headings of a document, as links name them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file) if file else path
        assert found.exists(), f"{path.name}: {target}"
        assert not anchor or anchor in anchors(found), f"{path.name}: {target}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_and_tests_named_exist(path: Path) -> None:
    text = path.read_text()
    packages = (
        "tests|zklake|watcher|streaming|delta_tables|dashboard|alerts|auditor|lab|bench|deploy"
    )
    for name in re.findall(rf"\b(?:{packages})/[\w/]+\.py", text):
        assert (ROOT / name).is_file(), f"{path.name}: {name}"
    sources = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"def (test_\w+)\(", sources))
    assert set(re.findall(r"`(test_\w+)(?:\[\w+\])?`", text)) <= known
    files = {file.name for file in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"\btest_\w+\.py", text)) <= files


def list_tracked() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


# Put together here, so that this file does not name them either.
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"))]
HOSTS += [".".join(parts) for parts in (("repo1", "maven"), ("repo", "maven"), ("maven", "org"))]
PLACES = ["/" + place for place in ("work/main", "work/shared", "root/.", "home/runner")]


def test_no_registry_host_and_no_machine_path_in_the_repository() -> None:
    found = []
    for path in list_tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {word}" for word in HOSTS + PLACES if word in text]
    assert found == []
